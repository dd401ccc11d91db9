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
