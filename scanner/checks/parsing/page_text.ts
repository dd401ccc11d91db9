import { defaultTreeAdapter, parse, parseFragment, type DefaultTreeAdapterTypes } from "parse5";
import { textsOfScript } from "./javascript_text.ts";

export interface PageTextOptions {
  /** Also the strings of scripts that are not known to be passed on to what shows them, and templates in scripts. */
  readonly withStrings?: boolean;
  /** Also elements that are hidden and that a script names, so that it may show them; and closed details. */
  readonly withHidden?: boolean;
}

/** Far above any real sign-in page. */
const maxLength = 4_194_304;
/** Of one page and all markup in its scripts, attributes counted too: a parser repeats the elements of misnested tags. */
const maxElements = 300_000;
// Scripts that write scripts that write scripts, and so on.
const maxDepth = 5;

/**
 * The words that a browser which runs scripts can show of a page, in its order: without comments, styles, code and what
 * is hidden, with the texts that its scripts show, folded to lower case, with one space between words and no punctuation.
 * Takes time in proportion to the page. Throws `RangeError` for a page that is too long or makes too many elements.
 */
export function wordsOfPage(html: string, options: PageTextOptions = {}): string {
  if (html.length > maxLength) throw new RangeError(`a page of more than ${maxLength} characters`);
  const { withStrings = false, withHidden = false } = options;
  const adapter = boundedAdapter();
  const { childNodes } = parse(html, { treeAdapter: adapter });
  const code = withHidden ? codeOf(childNodes) : null;
  const page: Page = { withStrings, code, adapter, texts: [] };
  readNodes(childNodes, page, 0);
  return wordsOf(page.texts.join(""));
}

/** Letters and digits only: quotation marks, dashes and bullets are set in many ways and mean the same. */
export function wordsOf(text: string): string {
  const folded = text.replaceAll(invisible, "").normalize("NFKC").toLowerCase();
  return ` ${folded.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

// Soft hyphens, joiners and marks of direction: inside a word, and unseen.
const invisible = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;

interface Page {
  readonly withStrings: boolean;
  /** The page's scripts, where what they name counts as well. */
  readonly code: string | null;
  readonly adapter: typeof defaultTreeAdapter;
  /** What was read so far. */
  readonly texts: string[];
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

/** With a stack of its own: a page may be nested deeper than calls can be. `scripts` is how many it is inside of. */
function readNodes(nodes: readonly Node[], page: Page, scripts: number): void {
  const stack: (Node | string)[] = [];
  pushReversed(stack, nodes);
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === "string") page.texts.push(node);
    else if (defaultTreeAdapter.isTextNode(node)) page.texts.push(node.value);
    else if (defaultTreeAdapter.isElementNode(node)) {
      // Elements that start a new line part words; `<b>U</b>SG` is one word.
      const gap = inlineElements.has(node.tagName) ? "" : " ";
      page.texts.push(gap);
      if (node.tagName === "script") readScript(node, page, scripts);
      stack.push(gap);
      pushReversed(stack, shownChildren(node, page));
    }
  }
}

function pushReversed(stack: (Node | string)[], nodes: readonly Node[]): void {
  for (let index = nodes.length - 1; index >= 0; index -= 1) stack.push(nodes[index] ?? "");
}

function shownChildren(element: Element, { code }: Page): readonly Node[] {
  const { tagName, childNodes } = element;
  const isNamed = code !== null && isNamedIn(element, code);
  if (unshownElements.has(tagName) || (isHidden(element) && !isNamed)) return [];
  if ("content" in element) return isNamed ? (element as DefaultTreeAdapterTypes.Template).content.childNodes : [];
  if (tagName !== "details" || code !== null || attributeOf(element, "open") !== undefined) return childNodes;
  return childNodes.filter((child) => child.nodeName === "summary");
}

function isNamedIn(element: Element, code: string): boolean {
  const classes = (attributeOf(element, "class") ?? "").split(/\s+/);
  const names = [
    attributeOf(element, "id") ?? "",
    ...classes,
    ...(namedByTag.has(element.tagName) ? [element.tagName] : []),
  ];
  return names.some((name) => name !== "" && code.includes(name));
}

const namedByTag = new Set(["dialog", "template"]);

/** The text of every script of a page. */
function codeOf(nodes: readonly Node[]): string {
  const code: string[] = [];
  const stack = [...nodes];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!defaultTreeAdapter.isElementNode(node)) continue;
    if (node.tagName === "script") code.push(sourceOf(node));
    for (const child of node.childNodes) stack.push(child);
  }
  return code.join("\n");
}

function sourceOf(script: Element): string {
  return script.childNodes.map((child) => ("value" in child ? child.value : "")).join("");
}

function isHidden(element: Element): boolean {
  if (attributeOf(element, "hidden") !== undefined) return true;
  if (element.tagName === "dialog" && attributeOf(element, "open") === undefined) return true;
  return (attributeOf(element, "style") ?? "").split(";").some((declaration) => {
    const [property = "", value = ""] = declaration.toLowerCase().split(":", 2);
    return hidingStyles.get(property.trim())?.some((word) => value.trim().startsWith(word)) === true;
  });
}

const hidingStyles: ReadonlyMap<string, readonly string[]> = new Map([
  ["display", ["none"]],
  ["visibility", ["hidden", "collapse"]],
]);

function readScript(script: Element, page: Page, scripts: number): void {
  // The content of a script element with `src` does not run.
  if (scripts >= maxDepth || attributeOf(script, "src") !== undefined) return;
  const source = sourceOf(script);
  const type = attributeOf(script, "type")?.trim().toLowerCase() ?? "";
  // A template is markup that a script may show; what a script writes is markup too.
  const isTemplate = /^text\/(html|template|x-)/.test(type);
  const texts = isTemplate ? [{ text: source, isShown: false }] : textsOfScript(source);
  for (const { text, isShown } of texts) {
    if (!isShown && !page.withStrings) continue;
    page.texts.push(" ");
    if (!/[<&]/.test(text)) page.texts.push(text);
    else readNodes(parseFragment(text, { treeAdapter: page.adapter }).childNodes, page, scripts + 1);
  }
}

function attributeOf(element: Element, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name)?.value;
}

/** Elements that a browser with scripts does not show: code, and fallback content. */
const unshownElements = new Set(
  "script style title noscript iframe noembed noframes audio canvas video datalist rp".split(" "),
);

const inlineElements = new Set(
  "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp small span strike strong sub sup time tt u var wbr".split(
    " ",
  ),
);
