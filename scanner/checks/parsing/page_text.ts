import { defaultTreeAdapter, parse, parseFragment, type DefaultTreeAdapterTypes } from "parse5";
import { memoize } from "../evaluating/memoize.ts";
import {
  attributeOf,
  classesOf,
  doubtfulElements,
  inlineElements,
  isRun,
  sourceOf,
  unreadPartOf,
  unshownElements,
  type UnreadPart,
} from "./page_elements.ts";
import { textsOfScript, type ScriptText } from "./script_texts.ts";
import { hidingOf, hidingRulesOf, type HidingRule } from "./style_visibility.ts";

/** Far above any real sign-in page. */
const maxLength = 4_194_304;
/** A page that is one script, and its texts scripts in turn. */
const maxCodeLength = 2 * maxLength;
/** Limit for a page and all markup in its scripts, attributes counted too: a parser repeats the elements of misnested tags. */
const maxElements = 300_000;
/** More rules of styles times elements than a real page has. */
const maxComparisons = 10_000_000;

/**
 * Reads the words of a page that a browser that runs scripts can show, in its order, folded to lower case, with one space between words
 * and no punctuation. Takes time in proportion to the page. Throws `RangeError` for a page that is too long, makes too many elements,
 * has too many styles, or is nested so deep that the engine runs out of stack.
 */
export function readPage(html: string) {
  if (html.length > maxLength) throw new RangeError(`a page of more than ${maxLength} characters`);
  const { text, comments } = splitTemplate(html);
  const treeAdapter = boundedAdapter();
  let codeLength = 0;
  const codesOf = memoize((element: Element) => {
    const codes = readCodes(element, treeAdapter);
    for (const { source } of codes) codeLength += source.length;
    // Scripts may write scripts that write scripts, and so on.
    if (codeLength > maxCodeLength) throw new RangeError(`a page of more than ${maxCodeLength} characters of code`);
    return codes;
  });
  const { childNodes } = parse(text, { treeAdapter });
  const survey = surveyOf(childNodes, codesOf);
  const parts: Part[] = [];
  const fillsHidden = childNodes.some((node) => hasHiddenHost(node, { ...survey, hideable: new Set() }, null));
  for (const node of childNodes) read(node, { doubt: null, isInert: false });
  const commented = parseFragment(comments, { treeAdapter }).childNodes;
  for (const node of commented) read(node, { doubt: "a comment of the template", isInert: true });
  const byDoubt = Map.groupBy(parts, ({ doubt }) => doubt);
  byDoubt.delete(unseen);
  return {
    /** The visible text, with the texts that scripts are seen to show; no comments, styles, code, or text that may be hidden. */
    shown: wordsIn(byDoubt.get(null) ?? []),
    /** The words of `shown`, and all that a reader may or may not see. */
    possible: wordsIn(parts.filter(({ doubt }) => doubt !== unseen)),
    /** Parts of the page whose words only `possible` has. */
    uncertainParts: [...byDoubt].flatMap(([reason, own]) => (reason === null ? [] : { reason, words: wordsIn(own) })),
    /** Parts of the page that are not read. */
    unread: survey.unread,
  };

  function read(node: Node | string, { doubt, isInert }: Place): void {
    if (typeof node === "string" || defaultTreeAdapter.isTextNode(node)) {
      parts.push({ text: typeof node === "string" ? node : node.value, doubt });
      return;
    }
    if (!defaultTreeAdapter.isElementNode(node)) return;
    const obstacle = obstacleOf(node, survey);
    // Elements that start a new line part words; `<b>U</b>SG` is one word.
    const gap = { text: inlineElements.has(node.tagName) ? "" : " ", doubt };
    parts.push(gap);
    for (const { source, texts, reason } of codesOf(node)) {
      const place = fillsHidden && !opensDialog.test(source) ? "a hidden element that a script may fill" : null;
      // An element that nobody sees may hold a script that runs.
      const unsure = doubt === null || (doubt === unseen && !isInert) ? reason : doubt;
      for (const { nodes, isShown } of texts) {
        const isSeen = isShown && !isInert;
        for (const written of [" ", ...nodes, " "]) read(written, { doubt: isSeen ? place : unsure, isInert: !isSeen });
      }
    }
    const inside = doubt === unseen || obstacle === unseen ? unseen : (doubt ?? obstacle);
    const { childNodes: children } = "content" in node ? node.content : node;
    const summary = obstacle === closedDetails ? children.find(({ nodeName }) => nodeName === "summary") : undefined;
    const within = { doubt: inside, isInert: isInert || node.tagName === "template" };
    for (const child of children) read(child, child === summary ? { doubt, isInert } : within);
    parts.push(gap);
  }
}

interface Part {
  readonly text: string;
  readonly doubt: Doubt;
}

/** The outermost obstacle that may keep something from being seen. Null: none; `unseen`: nobody can see it. */
type Doubt = string | null;
const unseen = "unseen";

/** The place of a node. Scripts do not run in an inert one. */
interface Place {
  readonly doubt: Doubt;
  readonly isInert: boolean;
}

function wordsIn(parts: readonly Part[]): string {
  return wordsOf(parts.map(({ text }) => text).join(""));
}

/** Separates the comments of Okta's template language, `{{! … }}` and `{{!-- … --}}`, from the page. */
function splitTemplate(html: string): { readonly text: string; readonly comments: string } {
  const comments: string[] = [];
  const text = html.replaceAll(
    /\{\{!(?:--([^]*?)(?:--\}\}|$)|([^]*?)(?:\}\}|$))/g,
    (_, long?: string, short?: string) => {
      comments.push(long ?? short ?? "");
      return " ";
    },
  );
  return { text, comments: comments.join(" ") };
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

/** A script, or an event handler of an element, with the texts that it may show. */
type Code = ReturnType<typeof readCodes>[number];

function readCodes(element: Element, treeAdapter: typeof defaultTreeAdapter) {
  const handlers = element.attrs.filter(({ name }) => name.startsWith("on"));
  const codes = handlers.map(({ name, value }) => {
    // By itself, and not where a person clicks.
    const runs = /^on(?:load|pageshow|error)$/.test(name);
    // Nobody knows whether the event comes: a page that is loaded, or a person who clicks.
    const texts = textsOfScript(value).map(({ text }) => read({ text, isShown: false }));
    return { source: value, runs, texts, reason: "an event handler that may show it" };
  });
  // The content of a script element with `src` does not run.
  if (element.tagName !== "script" || attributeOf(element, "src") !== undefined) return codes;
  const [source, runs] = [sourceOf(element), isRun(element)];
  // A script that does not run may be a template.
  const texts = (runs ? textsOfScript(source) : [{ text: source, isShown: false }]).map(read);
  return [{ source, runs, texts, reason: "a script that is not seen to show it" }, ...codes];

  function read(found: ScriptText) {
    return {
      ...found,
      nodes: /[<&]/.test(found.text) ? parseFragment(found.text, { treeAdapter }).childNodes : [found.text],
    };
  }
}

type Survey = ReturnType<typeof surveyOf>;

/** Collects facts about the elements of a page from its style sheets and scripts. */
function surveyOf(nodes: readonly Node[], codesOf: (element: Element) => readonly Code[]) {
  const rules: HidingRule[] = [];
  /** Words of all scripts, and of the selectors in scripts that hide or replace something. */
  const [named, hideable] = [new Set<string>(), new Set<string>()];
  const unread = new Set<UnreadPart>();
  nodes.forEach(visit);
  let comparisons = 0;
  return { ruleFor, named, hideable, unread };

  /** The first rule that may hide an element with these names. */
  function ruleFor(own: ReadonlySet<string>): HidingRule | undefined {
    comparisons += rules.length;
    if (comparisons > maxComparisons) throw new RangeError("a page with too many styles to compare");
    return rules.find(({ names }) => names.every((name) => own.has(name)));
  }

  function visit(node: Node | string): void {
    if (typeof node === "string" || !defaultTreeAdapter.isElementNode(node)) return;
    if (node.tagName === "style") for (const rule of hidingRulesOf(sourceOf(node))) rules.push(rule);
    const part = unreadPartOf(node);
    if (part !== null) unread.add(part);
    for (const { source, runs, texts } of codesOf(node)) {
      // A name may be joined of several texts, or written with escapes.
      for (const word of [source, ...texts.map(({ text }) => text)].flatMap(wordsOfCode)) named.add(word);
      const hides = runs && hidingCode.test(source);
      for (const { text, nodes: written } of texts) {
        if (hides && text.length <= maxSelectorLength) for (const word of wordsOfCode(text)) hideable.add(word);
        written.forEach(visit);
      }
    }
    node.childNodes.forEach(visit);
  }
}

function wordsOfCode(text: string): readonly string[] {
  return text.match(/[\w-]+/g) ?? [];
}

/** Calls and properties with which a script takes away what a page shows. */
const hidingCode =
  /\.(?:remove|hide|fadeOut|slideUp|detach|empty|replaceWith|replaceChildren|toggle)\s*\(|\.(?:style|classList|className|innerHTML|outerHTML|innerText|textContent)\b|\.hidden\b(?!\s*=\s*(?:false|!1))|["'](?:none|hidden)["']/;
const maxSelectorLength = 200;

/** Opens a dialog, whose text is in no element of the page. */
const opensDialog = /\b(?:alert|confirm|prompt)\s*\(/;

const closedDetails = "details that are closed";

/** True if a script names an empty element that may be hidden. */
function hasHiddenHost(node: Node, survey: Survey, around: Doubt): boolean {
  if (!defaultTreeAdapter.isElementNode(node) || unshownElements.has(node.tagName)) return false;
  const doubt = around ?? obstacleOf(node, survey);
  if (node.childNodes.length > 0) return node.childNodes.some((child) => hasHiddenHost(child, survey, doubt));
  return doubt !== null && namesOf(node).some((name) => isNamedIn(name, survey.named));
}

/** Returns what keeps an element's content from being seen. */
function obstacleOf(element: Element, { ruleFor, named, hideable }: Survey): Doubt {
  const { tagName } = element;
  const attributes = new Map(element.attrs.map(({ name, value }) => [name, value]));
  // In a drawing attributes are styles, too.
  const drawn = element.namespaceURI.endsWith("svg") ? element.attrs.map(({ name, value }) => `${name}:${value};`) : [];
  const style = hidingOf(`${drawn.join("")}${attributes.get("style") ?? ""}`);
  const names = namesOf(element);
  if (unshownElements.has(tagName)) return unseen;
  if (attributes.has("hidden") || style?.isCertain === true || tagName === "template") {
    const others = tagName === "template" ? [...names, tagName] : names;
    return others.some((name) => isNamedIn(name, named)) ? "an element that only a script may show" : unseen;
  }
  if (style !== null) return style.reason;
  if (doubtfulElements.has(tagName.toLowerCase())) return `the element ${tagName}`;
  const attribute = ["popover", "inert"].find((name) => attributes.has(name));
  if (attribute !== undefined) return `the attribute ${attribute}`;
  const compared = [
    tagName,
    `#${attributes.get("id") ?? ""}`,
    ...classesOf(element).map((name) => `.${name}`),
    ...[...attributes.keys()].map((name) => `[${name}`),
  ];
  const own = new Set(compared.map((name) => name.toLowerCase()));
  const rule = ruleFor(own);
  if (rule !== undefined) return rule.reason;
  if (names.some((name) => hideable.has(name))) return "an element that a script may hide";
  if (attributes.has("open")) return null;
  if (tagName === "dialog") return "a dialog that is closed";
  return tagName === "details" ? closedDetails : null;
}

function namesOf(element: Element): readonly string[] {
  return [attributeOf(element, "id") ?? "", ...classesOf(element)].filter((name) => name !== "");
}

function isNamedIn(name: string, words: ReadonlySet<string>): boolean {
  return wordsOfCode(name).every((word) => words.has(word));
}
