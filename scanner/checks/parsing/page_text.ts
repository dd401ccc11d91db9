import { defaultTreeAdapter, parse, parseFragment, type DefaultTreeAdapterTypes } from "parse5";
import { memoize } from "../evaluating/memoize.ts";
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
  const treeAdapter = boundedAdapter();
  const { childNodes } = parse(text, { treeAdapter });
  const page = surveyOf(
    childNodes,
    memoize((element: Element) => codeIn(element, treeAdapter)),
  );
  readNodes(childNodes, page, { doubt: null, scripts: 0 });
  const commented = parseFragment(comments, { treeAdapter }).childNodes;
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

/** Separates the comments of Okta's template language, `{{! … }}` and `{{!-- … --}}`, from the page. */
function splitTemplate(html: string): { readonly text: string; readonly comments: string } {
  const texts: string[] = [];
  const comments: string[] = [];
  let from = 0;
  for (let start = html.indexOf("{{!"); start !== -1; start = html.indexOf("{{!", from)) {
    const end = html.indexOf(html.startsWith("--", start + 3) ? "--}}" : "}}", start + 3);
    if (end === -1) break;
    texts.push(html.slice(from, start));
    comments.push(html.slice(start + 3, end));
    from = html.indexOf("}}", end) + 2;
  }
  return { text: [...texts, html.slice(from)].join(" "), comments: comments.join(" ") };
}

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

/** Letters and digits only: quotation marks, dashes and bullets are set in many ways and mean the same. */
export function wordsOf(text: string): string {
  const folded = text.replaceAll(invisible, "").normalize("NFKC").toLowerCase();
  return ` ${folded.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

// Soft hyphens, joiners and marks of direction: inside a word, and unseen.
const invisible = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** A script, or an event handler of an element. */
interface Code {
  readonly source: string;
  /** By itself, and not where a person clicks. */
  readonly runs: boolean;
  /** The texts that it may show, which may be markup. */
  readonly texts: readonly (ScriptText & { readonly nodes: readonly (Node | string)[] })[];
  /** Why a text may stay unseen, unless the code is seen to show it. */
  readonly reason: string;
}

function codeIn(element: Element, treeAdapter: typeof defaultTreeAdapter): readonly Code[] {
  const handlers = handlersOf(element).map(({ name, value }) => ({
    source: value,
    runs: /^on(?:load|pageshow|error)$/.test(name),
    // Nobody knows whether the event comes: a page that is loaded, or a person who clicks.
    texts: textsOfScript(value).map(({ text }) => ({ text, isShown: false })),
    reason: "an event handler that may show it",
  }));
  // The content of a script element with `src` does not run.
  const isScript = element.tagName === "script" && attributeOf(element, "src") === undefined;
  return [...(isScript ? [codeOf(element)] : []), ...handlers].map((code) => ({
    ...code,
    texts: code.texts.map(({ text, isShown }) => {
      const nodes = /[<&]/.test(text) ? parseFragment(text, { treeAdapter }).childNodes : [text];
      return { text, isShown, nodes };
    }),
  }));
}

function codeOf(script: Element) {
  const [source, runs] = [sourceOf(script), isRun(script)];
  // A script that does not run may be a template.
  const texts = runs ? textsOfScript(source) : [{ text: source, isShown: false }];
  return { source, runs, texts, reason: "a script that is not seen to show it" };
}

interface Page {
  readonly codeIn: (element: Element) => readonly Code[];
  readonly rules: HidingRules;
  /** Words of all scripts. */
  readonly named: ReadonlySet<string>;
  /** Words of the selectors in scripts that hide or replace something. */
  readonly hideable: ReadonlySet<string>;
  readonly unread: ReadonlySet<UnreadPart>;
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

/** Reads all style sheets and scripts, which say what elements are hidden. */
function surveyOf(nodes: readonly Node[], codeIn: Page["codeIn"]): Page {
  const rules = new HidingRules();
  const [named, hideable] = [new Set<string>(), new Set<string>()];
  const unread = new Set<UnreadPart>();
  const stack = nodes.map((node): [Node | string, number] => [node, 0]);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, scripts] = next;
    if (typeof node === "string" || !defaultTreeAdapter.isElementNode(node)) continue;
    if (node.tagName === "style") rules.add(sourceOf(node));
    const part = unreadPartOf(node);
    if (part !== null) unread.add(part);
    for (const { source, runs, texts } of codeIn(node)) {
      // A name may be joined of several texts, or written with escapes.
      for (const text of [source, ...texts.map((one) => one.text)])
        for (const word of wordsOfCode(text)) named.add(word);
      const selectors =
        runs && hidingCode.test(source) ? texts.filter(({ text }) => text.length <= maxSelectorLength) : [];
      for (const { text } of selectors) for (const word of wordsOfCode(text)) hideable.add(word);
      if (scripts < maxDepth) for (const one of texts) for (const child of one.nodes) stack.push([child, scripts + 1]);
    }
    for (const child of node.childNodes) stack.push([child, scripts]);
  }
  if (rules.importsMore) unread.add("style");
  return { codeIn, rules, named, hideable, unread, parts: [] };
}

function wordsOfCode(text: string): readonly string[] {
  return text.match(/[\w-]+/g) ?? [];
}

/** Calls and properties with which a script takes away what a page shows. */
const hidingCode =
  /\.(?:remove|hide|fadeOut|slideUp|detach|empty|replaceWith|replaceChildren|toggle)\s*\(|\.(?:style|classList|className|innerHTML|outerHTML|innerText|textContent)\b|\.hidden\b(?!\s*=\s*(?:false|!1))|["'](?:none|hidden)["']/;
const maxSelectorLength = 200;

/** Reads nodes with a list instead of recursion: a page may be nested deeper than the engine's stack. */
function readNodes(nodes: readonly (Node | string)[], page: Page, { doubt: outer, scripts }: Reading): void {
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
      if (scripts < maxDepth) readCode(page.codeIn(node), page, { doubt, scripts });
      stack.push([gap, doubt]);
      const inside = obstacle?.kind === "hidden" ? scriptsIn(node) : childrenOf(node);
      const summary = obstacle === closedDetails ? inside.find(({ nodeName }) => nodeName === "summary") : undefined;
      const doubtInside = obstacle?.kind === "doubtful" ? doubtOf(node, obstacle.reason, doubt) : doubt;
      for (const child of inside.toReversed()) stack.push([child, child === summary ? doubt : doubtInside]);
    }
  }
}

function readCode(codes: readonly Code[], page: Page, { doubt, scripts }: Reading): void {
  for (const { texts, reason } of codes) {
    for (const { nodes, isShown } of texts) {
      const isSeen = isShown && doubt?.isInert !== true;
      const doubtInside = isSeen ? null : { reason: doubt?.reason ?? reason, isInert: true };
      readNodes([" ", ...nodes, " "], page, { doubt: doubtInside, scripts: scripts + 1 });
    }
  }
}

function doubtOf({ tagName }: Element, reason: string, outer: Reading["doubt"]): Reading["doubt"] {
  const isInert = tagName === "template";
  return outer === null || isInert ? { reason: outer?.reason ?? reason, isInert } : outer;
}

/** Scripts of a template do not run; parse5 keeps them apart from the children. */
function scriptsIn(element: Element): readonly Element[] {
  const found: Element[] = [];
  const stack: Node[] = element.childNodes.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!defaultTreeAdapter.isElementNode(node)) continue;
    if (node.tagName === "script") found.push(node);
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
    const names = [...namesOf(element), ...(tagName === "template" ? [tagName] : [])];
    const isNamed = names.some((name) => wordsOfCode(name).every((word) => page.named.has(word)));
    return isNamed
      ? { kind: "doubtful", reason: "an element that only a script may show" }
      : { kind: "hidden", reason: tagName };
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

/** Id and classes. */
function namesOf(element: Element): readonly string[] {
  return [attributeOf(element, "id") ?? "", ...classesOf(element)].filter((name) => name !== "");
}
