import { defaultTreeAdapter, parse, parseFragment, type DefaultTreeAdapterTypes } from "parse5";
import {
  attributeOf,
  classesOf,
  doubtfulElements,
  handlersOf,
  inlineElements,
  isRun,
  sourceOf,
  unreadPartOf,
  unshownElements,
  type UnreadPart,
} from "./page_elements.ts";
import { splitTemplate } from "./page_template.ts";
import { textsOfScript, type ScriptText } from "./script_texts.ts";
import { HidingRules, hidingOf, type Hiding } from "./style_visibility.ts";

/** The words of a page, in its order, folded to lower case, with one space between words and no punctuation. */
export interface PageWords {
  /** The visible text, with the texts that scripts are seen to show; no comments, styles, code, or text that may be hidden. */
  readonly shown: string;
  /** The words of `shown`, and all that a reader may or may not see. */
  readonly possible: string;
  /** Parts of the page whose words only `possible` has. */
  readonly uncertainParts: readonly UncertainPart[];
  /** Parts of the page that are not read. */
  readonly unread: ReadonlySet<UnreadPart>;
}

export interface UncertainPart {
  readonly reason: string;
  readonly words: string;
}

/** Far above any real sign-in page. */
const maxLength = 4_194_304;
/** Limit for a page and all markup in its scripts, attributes counted too: a parser repeats the elements of misnested tags. */
const maxElements = 300_000;
// Scripts that write scripts that write scripts, and so on.
const maxDepth = 5;

/**
 * Reads the words of a page that a browser that runs scripts can show. Takes time in proportion to the page. Throws `RangeError` for a page
 * that is too long, makes too many elements or has too many styles.
 */
export function readPage(html: string): PageWords {
  if (html.length > maxLength) throw new RangeError(`a page of more than ${maxLength} characters`);
  const { text, comments } = splitTemplate(html);
  const adapter = boundedAdapter();
  const { childNodes } = parse(text, { treeAdapter: adapter });
  const page: Page = { ...surroundingsOf(childNodes, adapter), adapter: boundedAdapter(), parts: [] };
  readNodes(childNodes, page, { doubt: null, scripts: 0 });
  const commented = parseFragment(comments, { treeAdapter: adapter }).childNodes;
  readNodes(commented, page, { doubt: { reason: "a comment of the template", isInert: true }, scripts: 0 });
  const wordsIn = (parts: readonly Part[]) => wordsOf(parts.map(({ text: one }) => one).join(""));
  const doubtful = Map.groupBy(page.parts, ({ doubt }) => doubt);
  return {
    shown: wordsIn(doubtful.get(null) ?? []),
    possible: wordsIn(page.parts),
    uncertainParts: [...doubtful].flatMap(([doubt, parts]) =>
      doubt === null ? [] : { reason: doubt.reason, words: wordsIn(parts) },
    ),
    unread: page.unread,
  };
}

/** Letters and digits only: quotation marks, dashes and bullets are set in many ways and mean the same. */
export function wordsOf(text: string): string {
  const folded = text.replaceAll(invisible, "").normalize("NFKC").toLowerCase();
  return ` ${folded.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

// Soft hyphens, joiners and marks of direction: inside a word, and unseen.
const invisible = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;

/** Parts of the whole page that decide about each of its elements. */
interface Surroundings {
  readonly rules: HidingRules;
  readonly code: string;
  /** Ids and classes of hidden elements; true if a script contains them. */
  readonly named: Map<string, boolean>;
  readonly scripts: ReadonlyMap<Element, readonly ScriptText[]>;
  /** Words of the selectors in scripts that hide or replace something. */
  readonly hideable: ReadonlySet<string>;
  readonly unread: ReadonlySet<UnreadPart>;
}

interface Page extends Surroundings {
  readonly adapter: typeof defaultTreeAdapter;
  /** Texts that were read so far. */
  readonly parts: Part[];
}

interface Part {
  readonly text: string;
  /** Null: it is shown. */
  readonly doubt: Reading["doubt"];
}

/** The place of the nodes that are read. */
interface Reading {
  /** The outermost obstacle that may keep them from being seen; `isInert`: scripts among them do not run. Null: none. */
  readonly doubt: { readonly reason: string; readonly isInert: boolean } | null;
  /** How many scripts wrote the nodes. */
  readonly scripts: number;
}

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

function boundedAdapter(): typeof defaultTreeAdapter {
  let left = maxElements;
  return {
    ...defaultTreeAdapter,
    createElement(...element) {
      left -= 1 + element[2].length;
      if (left < 0) throw new RangeError(`a page of more than ${maxElements} elements`);
      return defaultTreeAdapter.createElement(...element);
    },
  };
}

/** All style sheets and scripts: they say which elements are hidden. */
function surroundingsOf(page: readonly Node[], adapter: typeof defaultTreeAdapter): Surroundings {
  const rules = new HidingRules();
  const scripts = new Map<Element, readonly ScriptText[]>();
  const code: string[] = [];
  const hideable = new Set<string>();
  const unread = new Set<UnreadPart>();
  survey(page, 0);
  if (rules.importsMore) unread.add("style");
  return { rules, code: code.join("\n"), named: new Map(), scripts, hideable, unread };

  function survey(nodes: readonly Node[], depth: number): void {
    const stack = [...nodes];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (!defaultTreeAdapter.isElementNode(node)) continue;
      if (node.tagName === "style") rules.add(sourceOf(node));
      const part = unreadPartOf(node);
      if (part !== null) unread.add(part);
      if (node.tagName === "script" && attributeOf(node, "src") === undefined) {
        const texts = surveyCode(sourceOf(node), depth, isRun(node));
        if (depth === 0) scripts.set(node, texts);
      }
      for (const { name, value } of handlersOf(node))
        surveyCode(value, depth, /^on(?:load|pageshow|error)$/.test(name));
      for (const child of node.childNodes) stack.push(child);
    }
  }

  /** `runs`: by itself, and not where a person clicks. */
  function surveyCode(source: string, depth: number, runs: boolean): readonly ScriptText[] {
    const texts = textsOfScript(source);
    if (depth === 0) code.push(source);
    if (runs && hidingCode.test(source)) {
      const selectors = texts.filter(({ text }) => text.length <= maxSelectorLength);
      for (const { text } of selectors) for (const [word] of text.matchAll(/[\w-]+/g)) hideable.add(word);
    }
    const markup = depth < maxDepth ? texts.filter(({ text }) => /<(?:style|link|script)\b/i.test(text)) : [];
    for (const { text } of markup) survey(parseFragment(text, { treeAdapter: adapter }).childNodes, depth + 1);
    return texts;
  }
}

/** Calls and properties with which a script takes away what a page shows. */
const hidingCode =
  /\.(?:remove|hide|fadeOut|slideUp|detach|empty|replaceWith|replaceChildren|toggle)\s*\(|\.(?:style|classList|className|innerHTML|outerHTML|innerText|textContent)\b|\.hidden\b(?!\s*=\s*(?:false|!1))|["'](?:none|hidden)["']/;
const maxSelectorLength = 200;

/** Reads nodes with a list instead of recursion: a page may be nested deeper than the engine's stack. */
function readNodes(nodes: readonly Node[], page: Page, { doubt: outer, scripts }: Reading): void {
  const stack = nodes.toReversed().map((node): [Node | string, Reading["doubt"]] => [node, outer]);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, doubt] = next;
    if (typeof node === "string") page.parts.push({ text: node, doubt });
    else if (defaultTreeAdapter.isTextNode(node)) page.parts.push({ text: node.value, doubt });
    else if (defaultTreeAdapter.isElementNode(node)) {
      const obstacle = obstacleOf(node, page);
      // Elements that start a new line part words; `<b>U</b>SG` is one word.
      const gap = inlineElements.has(node.tagName) ? "" : " ";
      page.parts.push({ text: gap, doubt });
      if (node.tagName === "script") readScript(node, page, { doubt, scripts });
      for (const { value } of handlersOf(node))
        for (const { text } of textsOfScript(value)) page.parts.push({ text: ` ${text} `, doubt: doubt ?? inHandler });
      stack.push([gap, doubt]);
      // A script shows its text wherever the script stands.
      const inside = obstacle?.kind === "hidden" ? scriptsIn(node) : childrenOf(node);
      const summary = obstacle === closedDetails ? inside.find(isSummary) : undefined;
      const doubtInside = obstacle?.kind === "doubtful" ? doubtOf(node, obstacle.reason, doubt) : doubt;
      for (const child of inside.toReversed()) stack.push([child, child === summary ? doubt : doubtInside]);
    }
  }
}

/** Nobody knows whether the event comes: a page that is loaded, or a person who clicks. */
const inHandler = { reason: "an event handler that may show it", isInert: false };

function doubtOf({ tagName }: Element, reason: string, outer: Reading["doubt"]): Reading["doubt"] {
  const isInert = tagName === "template";
  return outer === null || isInert ? { reason: outer?.reason ?? reason, isInert } : outer;
}

/** Scripts of a template do not run; parse5 keeps them apart from the children. */
function scriptsIn(element: Element): readonly Element[] {
  const found: Element[] = [];
  const stack: Node[] = [element];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!defaultTreeAdapter.isElementNode(node)) continue;
    if (node.tagName === "script" && node !== element) found.push(node);
    for (const child of node.childNodes.toReversed()) stack.push(child);
  }
  return found;
}

const closedDetails: Hiding = { kind: "doubtful", reason: "details that are closed" };

/** Returns what keeps an element's content from being seen; null if nothing does. */
function obstacleOf(element: Element, page: Page): Hiding | null {
  const { tagName } = element;
  const attributes = new Map(element.attrs.map(({ name, value }) => [name, value]));
  // In a drawing attributes are styles, too.
  const drawn = element.namespaceURI.endsWith("svg") ? element.attrs.map(({ name, value }) => `${name}:${value};`) : [];
  const style = hidingOf(`${drawn.join("")}${attributes.get("style") ?? ""}`);
  if (unshownElements.has(tagName)) return { kind: "hidden", reason: tagName };
  if (attributes.has("hidden") || style?.kind === "hidden" || tagName === "template") {
    if (!isNamed(element, page)) return { kind: "hidden", reason: tagName };
    return { kind: "doubtful", reason: "an element that only a script may show" };
  }
  if (style !== null) return style;
  if (doubtfulElements.has(tagName.toLowerCase())) return { kind: "doubtful", reason: `the element ${tagName}` };
  const attribute = ["popover", "inert"].find((name) => attributes.has(name));
  if (attribute !== undefined) return { kind: "doubtful", reason: `the attribute ${attribute}` };
  const names = [
    tagName,
    `#${attributes.get("id") ?? ""}`,
    ...classesOf(element).map((name) => `.${name}`),
    ...[...attributes.keys()].map((name) => `[${name}`),
  ];
  const reason = page.rules.reasonToHide(new Set(names.map((name) => name.toLowerCase())));
  if (reason !== null) return { kind: "doubtful", reason };
  if (namesOf(element).some((name) => page.hideable.has(name)))
    return { kind: "doubtful", reason: "an element that a script may hide" };
  if (attributes.has("open")) return null;
  if (tagName === "dialog") return { kind: "doubtful", reason: "a dialog that is closed" };
  return tagName === "details" ? closedDetails : null;
}

function childrenOf(element: Element): readonly Node[] {
  return "content" in element ? (element as DefaultTreeAdapterTypes.Template).content.childNodes : element.childNodes;
}

function isSummary({ nodeName }: Node): boolean {
  return nodeName === "summary";
}

/** More than any real page hides: beyond them every name counts as one of a script's. */
const maxNamed = 500;

/** True if a script names a hidden element, so that it may show it. */
function isNamed(element: Element, { code, named }: Page): boolean {
  const names = [...namesOf(element), ...(element.tagName === "template" ? ["template"] : [])];
  return names.some((name) => {
    const isKnown = named.get(name) ?? (named.size >= maxNamed || code.includes(name));
    named.set(name, isKnown);
    return isKnown;
  });
}

function readScript(script: Element, page: Page, { doubt, scripts }: Reading): void {
  // The content of a script element with `src` does not run.
  if (scripts >= maxDepth || attributeOf(script, "src") !== undefined) return;
  const source = sourceOf(script);
  // A script that does not run may be a template, and the text that a script writes is markup too.
  const texts = isRun(script)
    ? (page.scripts.get(script) ?? textsOfScript(source))
    : [{ text: source, isShown: false }];
  for (const { text, isShown } of texts) {
    const inDoubt = { reason: doubt?.reason ?? "a script that is not seen to show it", isInert: true };
    const reading = { doubt: isShown && doubt?.isInert !== true ? null : inDoubt, scripts: scripts + 1 };
    const nodes = /[<&]/.test(text) ? parseFragment(text, { treeAdapter: page.adapter }).childNodes : null;
    page.parts.push({ text: ` ${nodes === null ? text : ""}`, doubt: reading.doubt });
    if (nodes !== null) readNodes(nodes, page, reading);
    page.parts.push({ text: " ", doubt: reading.doubt });
  }
}

/** Id and classes. */
function namesOf(element: Element): readonly string[] {
  return [attributeOf(element, "id") ?? "", ...classesOf(element)].filter((name) => name !== "");
}
