import { decodeHTML } from "entities";
import { textsOfScript } from "./javascript_text.ts";

/**
 * The words that a page can show, in its order: without comments, styles, tags and code, with the texts that its scripts
 * hold, folded to lower case, with one space between words and no punctuation.
 */
export function wordsOfPage(html: string): string {
  return wordsOf(textsOfPage(html).join(" "));
}

/** Letters and digits only: quotation marks, dashes and bullets are set in many ways and mean the same. */
export function wordsOf(text: string): string {
  const folded = text.replaceAll(invisible, "").normalize("NFKC").toLowerCase();
  return ` ${folded.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

// Soft hyphens, joiners and marks of direction: inside a word, and unseen.
const invisible = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;

/** HTML, and text within scripts that is HTML again. */
function textsOfPage(html: string): readonly string[] {
  const texts: string[] = [];
  let position = 0;
  while (position < html.length) {
    const special = nextSpecial(html, position);
    texts.push(textOfMarkup(html.slice(position, special?.start)));
    if (special === null) break;
    if (special.kind === "script") texts.push(...textsOfScript(special.content).map(textOfLiteral));
    if (special.kind === "markup") texts.push(...textsOfPage(special.content));
    position = special.end;
  }
  return texts;
}

interface Special {
  readonly kind: "hidden" | "script" | "markup";
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

/** The next comment, script or style; what a page leaves open reaches to its end, as in a browser. */
function nextSpecial(html: string, from: number): Special | null {
  const opening = /<!--|<(script|style)\b((?:"[^"]*"|'[^']*'|[^>"'])*)>/gi;
  opening.lastIndex = from;
  const found = opening.exec(html);
  if (found === null) return null;
  const [whole, element, attributes = ""] = found;
  const contentStart = found.index + whole.length;
  const closing = element === undefined ? /-->/g : new RegExp(`</${element}[^>]*>`, "gi");
  closing.lastIndex = contentStart;
  const close = closing.exec(html);
  return {
    kind: element === undefined ? "hidden" : kindOf(element, attributes),
    content: html.slice(contentStart, close?.index),
    start: found.index,
    end: close === null ? html.length : close.index + close[0].length,
  };
}

function kindOf(element: string, attributes: string): Special["kind"] {
  if (element.toLowerCase() === "style") return "hidden";
  const type = /\btype\s*=\s*["']?([^\s"'>]*)/i.exec(attributes)?.[1]?.toLowerCase() ?? "";
  return /^text\/(html|template|x-)/.test(type) ? "markup" : "script";
}

/** A literal that a script puts into the page: markup, whose comments are not shown either. */
function textOfLiteral(literal: string): string {
  return textOfMarkup(literal.replaceAll(/<!--[\s\S]*?(?:-->|$)/g, " "));
}

/** Elements that start a new line part words; `<b>U</b>SG` is one word. */
function textOfMarkup(markup: string): string {
  const withoutTags = markup.replaceAll(
    /<\/?([a-z][\w-]*)\b(?:"[^"]*"|'[^']*'|[^>"'])*>/gi,
    (_tag: string, name: string) => (inlineElements.has(name.toLowerCase()) ? "" : " "),
  );
  return decodeHTML(withoutTags);
}

const inlineElements = new Set([
  "a",
  "abbr",
  "b",
  "em",
  "font",
  "i",
  "mark",
  "small",
  "span",
  "strong",
  "sub",
  "sup",
  "u",
  "wbr",
]);
