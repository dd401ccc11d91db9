/** One element of an XML text with its places there, so that a part can be replaced and every other byte stays. */
export interface XmlElement {
  readonly name: string;
  /** For its start tag, and after its end tag. */
  readonly start: number;
  readonly end: number;
  /** Between its tags; both are `end` for an element without an end tag. */
  readonly contentStart: number;
  readonly contentEnd: number;
  readonly isSelfClosing: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** Its own text, decoded, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
  readonly comments: readonly XmlComment[];
}

export interface XmlComment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface XmlDocument {
  readonly root: XmlElement;
  /** Before the root element. */
  readonly comments: readonly XmlComment[];
}

interface OpenElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly start: number;
  readonly contentStart: number;
  text: string;
  readonly children: XmlElement[];
  readonly comments: XmlComment[];
}

const maxDepth = 50;
/** One piece after another: comment, CDATA, processing instruction, end tag, start tag, text. Quick no matter what the text holds. */
const piece =
  /<!--([^]*?)-->|<!\[CDATA\[([^]*?)\]\]>|<\?[^]*?\?>|<\/([\w.:-]+)\s*>|<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;

/** Reads well-formed XML without a document type; throws `SyntaxError` with one sentence that names the line. */
export function parseXml(text: string): XmlDocument {
  const fail = (at: number, problem: string) => new SyntaxError(`line ${lineAt(text, at)}: ${problem}`);
  const none: ReadonlyMap<string, string> = new Map();
  const outside: OpenElement = {
    name: "",
    attributes: none,
    start: 0,
    contentStart: 0,
    text: "",
    children: [],
    comments: [],
  };
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
    const end = at + whole.length;
    if (comment !== undefined) {
      if (comment.includes("--")) throw fail(at, "it is not well-formed XML: two hyphens stand in a comment");
      current.comments.push({ start: at, end, text: comment });
    } else if (cdata !== undefined) {
      current.text += cdata;
    } else if (plain !== undefined) {
      const decoded = decodeText(plain);
      if (decoded === null) throw fail(at, "it is not well-formed XML: an & begins no known entity");
      if (current === outside && decoded.trim() !== "") throw fail(at, "it is not well-formed XML");
      current.text += decoded;
    } else if (startName !== undefined) {
      if (open.length > maxDepth) throw fail(at, `it is nested too deep: expected ${maxDepth} levels at most`);
      const attributes = given === "" ? none : readAttributes(given);
      if (attributes === null) throw fail(at, `it is not well-formed XML: the attributes of <${startName}>`);
      const element = {
        name: startName,
        attributes,
        start: at,
        contentStart: end,
        text: "",
        children: [],
        comments: [],
      };
      if (slash === "/") current.children.push({ ...element, end, contentEnd: end, isSelfClosing: true });
      else open.push(element);
    } else if (endName !== undefined) {
      if (current === outside || current.name !== endName) {
        throw fail(at, `it is not well-formed XML: </${endName}> ends no open element`);
      }
      open.pop();
      (open.at(-1) ?? outside).children.push({ ...current, end, contentEnd: at, isSelfClosing: false });
    }
    at = end;
  }
  if (open.length > 1) throw fail(at, `it is not well-formed XML: <${open.at(-1)?.name ?? ""}> has no end`);
  const [root, second] = outside.children;
  if (root === undefined || second !== undefined) throw fail(at, "it is not XML with one root element");
  return { root, comments: outside.comments.filter(({ start }) => start < root.start) };
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
