import { create, fragment } from "xmlbuilder2";
import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";

/** A document to fill; text that XML cannot hold is replaced where it enters (`xmlText`). */
export function createXml(): XMLBuilder {
  return create({ version: "1.0", encoding: "UTF-8" });
}

/** Elements to put into a document that is there. */
export function createXmlFragment(): XMLBuilder {
  return fragment();
}

export function xmlString(document: XMLBuilder): string {
  return `${document.end({ prettyPrint: true })}\n`;
}

/**
 * Text for an element or attribute. XML 1.0 has no way to write most control characters and lone surrogates
 * (https://www.w3.org/TR/xml/#charsets); and the writer leaves alone what looks like an entity, so that a name such as
 * `R&amp;D` would read as `R&D`, and `&x;` would be an error.
 */
export function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;");
}

/** The same for a place where no writer escapes the rest. */
export function xmlEscape(text: string): string {
  return xmlText(text).replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
