/** One element that was read. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Its own text, decoded, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

interface OpenElement extends XmlElement {
  text: string;
  readonly children: XmlElement[];
}

/** One element to write: its text, or its children. */
export interface XmlNode {
  readonly name: string;
  readonly content: string | readonly XmlNode[];
  readonly attributes: Readonly<Record<string, string | number>>;
}

export function element(
  name: string,
  content: XmlNode["content"] = "",
  attributes: XmlNode["attributes"] = {},
): XmlNode {
  return { name, content, attributes };
}

/** The document of a root element; `comment` stands before it and holds no two hyphens. */
export function writeXml(root: XmlNode, comment = ""): string {
  const before = comment === "" ? "" : `<!--${comment}-->\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${before}${toLines(root, "")}\n`;
}

/** White space is added only between elements. */
function toLines({ name, content, attributes }: XmlNode, indent: string): string {
  const given = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(String(value), /[&<>"\t\n\r]/g)}"`,
  );
  const start = `${indent}<${name}${given.join("")}`;
  if (content.length === 0) return `${start}/>`;
  if (typeof content === "string") return `${start}>${escaped(content, /[&<>\r]/g)}</${name}>`;
  return [`${start}>`, ...content.map((child) => toLines(child, `${indent}  `)), `${indent}</${name}>`].join("\n");
}

/** XML 1.0 has no way to write most control characters and lone surrogates (https://www.w3.org/TR/xml/#charsets). */
function escaped(text: string, special: RegExp): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll(special, (character) => names[character] ?? `&#${character.charCodeAt(0)};`);
}

const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const maxDepth = 50;
/** One piece after another: comment, CDATA, processing instruction, end tag, start tag, text. Quick no matter what the text holds. */
const piece =
  /<!--([^]*?)-->|<!\[CDATA\[([^]*?)\]\]>|<\?[^]*?\?>|<\/([\w.:-]+)\s*>|<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;

/** Reads well-formed XML without a document type; throws `SyntaxError` with one sentence that names the line. */
export function parseXml(text: string): XmlElement {
  const fail = (at: number, problem: string) => new SyntaxError(`line ${lineAt(text, at)}: ${problem}`);
  const outside: OpenElement = { name: "", attributes: new Map(), text: "", children: [] };
  const open: OpenElement[] = [outside];
  let at = 0;
  while (at < text.length) {
    piece.lastIndex = at;
    const match = piece.exec(text);
    const current = open.at(-1) ?? outside;
    if (match === null) {
      if (text.startsWith("<!DOCTYPE", at)) throw fail(at, "expected XML without a document type");
      throw fail(at, "it is not well-formed XML");
    }
    const [whole, comment, cdata, endName, startName, given = "", slash, plain] = match;
    if (comment?.includes("--") === true) throw fail(at, "it is not well-formed XML: two hyphens stand in a comment");
    if (cdata !== undefined) {
      current.text += cdata;
    } else if (plain !== undefined) {
      const decoded = decodeText(plain);
      if (decoded === null) throw fail(at, "it is not well-formed XML: an & begins no known entity");
      if (current === outside && decoded.trim() !== "") throw fail(at, "it is not well-formed XML");
      current.text += decoded;
    } else if (startName !== undefined) {
      if (open.length > maxDepth) throw fail(at, `it is nested too deep: expected ${maxDepth} levels at most`);
      const attributes = readAttributes(given);
      if (attributes === null) throw fail(at, `it is not well-formed XML: the attributes of <${startName}>`);
      const started = { name: startName, attributes, text: "", children: [] };
      current.children.push(started);
      if (slash !== "/") open.push(started);
    } else if (endName !== undefined) {
      if (current === outside || current.name !== endName) {
        throw fail(at, `it is not well-formed XML: </${endName}> ends no open element`);
      }
      open.pop();
    }
    at += whole.length;
  }
  if (open.length > 1) throw fail(at, `it is not well-formed XML: <${open.at(-1)?.name ?? ""}> has no end`);
  const [root, second] = outside.children;
  if (root === undefined || second !== undefined) throw fail(at, "it is not XML with one root element");
  return root;
}

/** Null where one is given twice, or holds an entity that is not XML's own. */
function readAttributes(text: string): ReadonlyMap<string, string> | null {
  const attributes = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(/\s+([\w.:-]+)\s*=\s*("[^"]*"|'[^']*')/gy)) {
    const decoded = decodeText(value.slice(1, -1));
    if (decoded === null || attributes.has(name)) return null;
    attributes.set(name, decoded);
  }
  return attributes;
}

export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** The text of the first child of this name; empty without one. */
export function childText(element: XmlElement, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? "";
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Null when an entity is not one of XML's own. */
function decodeText(text: string): string | null {
  let isKnown = true;
  // A line break is one character, however it is written (https://www.w3.org/TR/xml/#sec-line-ends).
  const decoded = text.replace(/\r\n?/g, "\n").replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));|&/gi, (...groups) => {
    const [, hex, decimal, name] = groups as (string | undefined)[];
    const point = hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
    const character = name === undefined ? toCharacter(point) : entities[name];
    if (character === undefined) isKnown = false;
    return character ?? "";
  });
  return isKnown ? decoded : null;
}

function toCharacter(point: number): string | undefined {
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}
