import { defaultTreeAdapter, parse, parseFragment, type DefaultTreeAdapterTypes } from "parse5";
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
import { splitTemplate } from "./page_template.ts";
import { textsOfScript } from "./script_texts.ts";
import { addHidden, hidingOf } from "./style_visibility.ts";

/** The words of a page, in its order, folded to lower case, with one space between words and no punctuation. */
export interface PageWords {
  /** The visible text, with the texts that scripts are seen to show; no comments, styles, code, or text that may be hidden. */
  readonly shown: string;
  /** Those, and all that a reader may or may not see. */
  readonly possible: string;
  /** Parts of the page whose words only `possible` has. */
  readonly doubts: readonly Doubt[];
  /** Parts of the page that are not read. */
  readonly unread: ReadonlySet<UnreadPart>;
}

export interface Doubt {
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
 * that is too long or makes too many elements.
 */
export function readPage(html: string): PageWords {
  if (html.length > maxLength) throw new RangeError(`a page of more than ${maxLength} characters`);
  const { text, comments } = splitTemplate(html);
  const treeAdapter = boundedAdapter();
  const { childNodes } = parse(text, { treeAdapter });
  const page: Page = { treeAdapter, parts: [], hidden: new Map(), scriptWords: new Set(), unread: new Set() };
  surveyNodes(childNodes, page, 0);
  const reading: Page = { ...page, treeAdapter: boundedAdapter() };
  readNodes(childNodes, reading, { obstacle: null, scripts: 0 });
  const commented = parseFragment(comments, { treeAdapter }).childNodes;
  const inComment: Obstacle = { kind: "inert", reason: "a comment of the template" };
  readNodes(commented, reading, { obstacle: inComment, scripts: 0 });
  const wordsIn = (parts: readonly Part[]) => wordsOf(parts.map((part) => part.text).join(""));
  const possible = page.parts.filter(({ obstacle }) => obstacle?.kind !== "hidden");
  const doubtful = [...Map.groupBy(possible, ({ obstacle }) => obstacle)];
  return {
    shown: wordsIn(possible.filter(({ obstacle }) => obstacle === null)),
    possible: wordsIn(possible),
    doubts: doubtful.flatMap(([obstacle, parts]) =>
      obstacle === null ? [] : { reason: obstacle.reason, words: wordsIn(parts) },
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

interface Page {
  readonly treeAdapter: typeof defaultTreeAdapter;
  /** Texts that were read so far. */
  readonly parts: Part[];
  /** Tags, `#id` and `.class` of elements that a style sheet or a script may hide, each with the reason; `*` for all of them. */
  readonly hidden: Map<string, string>;
  /** Words of all scripts: ids and classes of the elements that they may show. */
  readonly scriptWords: Set<string>;
  readonly unread: Set<UnreadPart>;
}

interface Part {
  readonly text: string;
  /** Null: it is shown. */
  readonly obstacle: Obstacle | null;
}

/** Keeps text from being seen, certainly (`hidden`) or perhaps. `inert`: scripts in it do not run. */
interface Obstacle {
  readonly kind: "doubtful" | "hidden" | "inert";
  readonly reason: string;
}

/** The place of the nodes that are read. */
interface Reading {
  readonly obstacle: Obstacle | null;
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

/** Notes what the style sheets and scripts of a page hide, and what is not read, with a list instead of recursion. */
function surveyNodes(nodes: readonly Node[], page: Page, depth: number): void {
  const stack = [...nodes];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!defaultTreeAdapter.isElementNode(node)) continue;
    const source = sourceOf(node);
    if (node.tagName === "style") addHidden(source, page.hidden);
    const part = node.tagName === "style" && /@import\b/i.test(source) ? "style" : unreadPartOf(node);
    if (part !== null) page.unread.add(part);
    if (node.tagName === "script" && attributeOf(node, "src") === undefined) surveyScript(node, page, depth);
    for (const child of node.childNodes) stack.push(child);
  }
}

function surveyScript(script: Element, page: Page, depth: number): void {
  const source = sourceOf(script);
  const texts = textsOfScript(source).map(({ text }) => text);
  for (const [word] of source.matchAll(/[\w-]+/g)) page.scriptWords.add(word);
  if (isRun(script) && hidingCode.test(source)) {
    const words = texts
      .filter(({ length }) => length <= maxSelectorLength)
      .flatMap((text) => text.match(/[\w-]+/g) ?? []);
    for (const word of words)
      for (const mark of ["#", "."])
        page.hidden.set(`${mark}${word.toLowerCase()}`, "an element that a script may hide");
  }
  const markup = depth < maxDepth ? texts.filter((text) => /<(?:style|link|script)\b/i.test(text)) : [];
  const { treeAdapter } = page;
  for (const text of markup) surveyNodes(parseFragment(text, { treeAdapter }).childNodes, page, depth + 1);
}

/** Calls and properties with which a script takes away what a page shows. */
const hidingCode =
  /\.(?:remove|hide|fadeOut|slideUp|detach|empty|replaceWith|replaceChildren|toggle)\s*\(|\.(?:style|classList|className|innerHTML|outerHTML|innerText|textContent)\b|\.hidden\b(?!\s*=\s*(?:false|!1))|["'](?:none|hidden)["']/;
const maxSelectorLength = 200;

/** Reads nodes with a list instead of recursion: a page may be nested deeper than the engine's stack. */
function readNodes(nodes: readonly Node[], page: Page, reading: Reading): void {
  const stack = nodes.toReversed().map((node): [Node | string, Obstacle | null] => [node, reading.obstacle]);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, obstacle] = next;
    if (typeof node === "string") page.parts.push({ text: node, obstacle });
    else if (defaultTreeAdapter.isTextNode(node)) page.parts.push({ text: node.value, obstacle });
    else if (defaultTreeAdapter.isElementNode(node)) {
      // Elements that start a new line part words; `<b>U</b>SG` is one word.
      const gap = inlineElements.has(node.tagName) ? "" : " ";
      page.parts.push({ text: gap, obstacle });
      if (node.tagName === "script") readScript(node, page, { obstacle, scripts: reading.scripts });
      stack.push([gap, obstacle]);
      if (unshownElements.has(node.tagName)) continue;
      const inside = stronger(obstacle, obstacleOf(node, page));
      for (const child of childrenOf(node).toReversed()) stack.push([child, inside]);
    }
  }
}

/** A script shows its text wherever it stands, but for where it does not run; of equal obstacles the outer one counts. */
function stronger(outer: Obstacle | null, own: Obstacle | null): Obstacle | null {
  const both = [outer, own].filter((one) => one !== null);
  const of = (kind: Obstacle["kind"]) => both.find((one) => one.kind === kind);
  return of("inert") ?? of("hidden") ?? both[0] ?? null;
}

/** Returns what keeps an element's content from being seen; null if nothing does. */
function obstacleOf(element: Element, page: Page): Obstacle | null {
  const { tagName, attrs } = element;
  const doubtful = (reason: string): Obstacle => ({ kind: "doubtful", reason });
  const attributes = new Map(attrs.map(({ name, value }) => [name, value]));
  const names = [
    ...classesOf(element).map((name) => `.${name}`),
    ...(attributes.has("id") ? [`#${attributes.get("id") ?? ""}`] : []),
  ];
  if (tagName === "template") return { kind: "inert", reason: "an element that only a script may show" };
  const style = hidingOf(attributes.get("style") ?? "");
  if (attributes.has("hidden") || style?.kind === "hidden")
    return names.some((name) => page.scriptWords.has(name.slice(1)))
      ? doubtful("a hidden element that a script names")
      : { kind: "hidden", reason: tagName };
  if (style !== null) return style;
  const isDrawn = !element.namespaceURI.endsWith("xhtml");
  if (isDrawn || doubtfulElements.has(tagName)) return doubtful(`the element ${tagName}`);
  const attribute = ["popover", "inert"].find((name) => attributes.has(name));
  if (attribute !== undefined) return doubtful(`the attribute ${attribute}`);
  const reason = ["*", tagName, ...names].map((name) => page.hidden.get(name.toLowerCase())).find(Boolean);
  if (reason !== undefined) return doubtful(reason);
  const isClosed = (tagName === "dialog" || tagName === "details") && !attributes.has("open");
  return isClosed ? doubtful(`the element ${tagName}, which is closed`) : null;
}

function childrenOf(element: Element): readonly Node[] {
  return "content" in element ? (element as DefaultTreeAdapterTypes.Template).content.childNodes : element.childNodes;
}

function readScript(script: Element, page: Page, { obstacle, scripts }: Reading): void {
  // The content of a script element with `src` does not run.
  if (scripts >= maxDepth || attributeOf(script, "src") !== undefined) return;
  const source = sourceOf(script);
  // A script that does not run may be a template, and the text that a script writes is markup too.
  const texts = isRun(script) ? textsOfScript(source) : [{ text: source, isShown: false }];
  const unseen: Obstacle = { kind: "inert", reason: "a script that is not seen to show it" };
  for (const { text, isShown } of texts) {
    const isSeen = isShown && obstacle?.kind !== "inert";
    const inside = isSeen ? null : obstacle?.kind === "inert" ? obstacle : unseen;
    const nodes = /[<&]/.test(text) ? parseFragment(text, { treeAdapter: page.treeAdapter }).childNodes : null;
    page.parts.push({ text: ` ${nodes === null ? text : ""}`, obstacle: inside });
    if (nodes !== null) readNodes(nodes, page, { obstacle: inside, scripts: scripts + 1 });
    page.parts.push({ text: " ", obstacle: inside });
  }
}
