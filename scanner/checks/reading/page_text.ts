import { decodeHTML } from "entities";
import { textsOfScript } from "./javascript_text.ts";

/**
 * The words that a page can show, in its order: without comments, styles, tags and code, with the texts that its scripts
 * hold, folded to lower case, with one space between words and no punctuation.
 */
export function wordsOfPage(html: string): string {
  return wordsOf(textOfMarkup(html, 0));
}

/** Letters and digits only: quotation marks, dashes and bullets are set in many ways and mean the same. */
export function wordsOf(text: string): string {
  const folded = text.replaceAll(invisible, "").normalize("NFKC").toLowerCase();
  return ` ${folded.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

// Soft hyphens, joiners and marks of direction: inside a word, and unseen.
const invisible = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;

/** One pass from left to right, as a browser reads it; whatever is left open reaches to the end. */
function textOfMarkup(html: string, depth: number): string {
  const texts: string[] = [];
  let position = 0;
  while (position < html.length) {
    const opening = html.indexOf("<", position);
    texts.push(decodeHTML(html.slice(position, opening === -1 ? html.length : opening)));
    if (opening === -1) break;
    const part = readPart(html, opening, depth);
    texts.push(part.text);
    position = part.end;
  }
  return texts.join("");
}

interface Part {
  /** What it puts into the text around it. */
  readonly text: string;
  readonly end: number;
}

/** What starts at a `<`: a comment, a tag, or only a letter. */
function readPart(html: string, start: number, depth: number): Part {
  if (html.startsWith("<!--", start)) return { text: " ", end: after(html, "-->", start + 4) };
  const name = /^<[/!?]?([a-z][\w-]*)/i.exec(html.slice(start, start + 40))?.[1]?.toLowerCase();
  if (name === undefined) return { text: "<", end: start + 1 };
  const end = endOfTag(html, start);
  const isOpening = html.charAt(start + 1) !== "/";
  if (isOpening && rawElements.has(name))
    return readRaw(html, { name, tag: html.slice(start, end), start: end, depth });
  // Elements that start a new line part words; `<b>U</b>SG` is one word.
  return { text: inlineElements.has(name) ? "" : " ", end };
}

/** Elements whose content is no markup to show. */
const rawElements = new Set(["script", "style", "noscript", "title"]);

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

interface RawElement {
  readonly name: string;
  readonly tag: string;
  /** Where its content starts. */
  readonly start: number;
  /** How many scripts it is inside of. */
  readonly depth: number;
}

// A script that writes a script that writes one: deeper than anybody writes.
const maxDepth = 5;

function readRaw(html: string, element: RawElement): Part {
  const closing = new RegExp(`</${element.name}`, "gi");
  closing.lastIndex = element.start;
  const close = closing.exec(html)?.index ?? html.length;
  const content = html.slice(element.start, close);
  const end = close === html.length ? close : after(html, ">", close);
  if (element.name !== "script" || element.depth >= maxDepth) return { text: " ", end };
  const type = /\btype\s*=\s*["']?([^\s"'>]*)/i.exec(element.tag)?.[1]?.toLowerCase() ?? "";
  // A template is markup that a script shows; what a script writes is markup too.
  const texts = /^text\/(html|template|x-)/.test(type) ? [content] : textsOfScript(content);
  return { text: ` ${texts.map((text) => textOfMarkup(text, element.depth + 1)).join(" ")} `, end };
}

/** A `>` in a quoted value does not end the tag. */
function endOfTag(html: string, start: number): number {
  let quote = "";
  let before = "";
  for (let position = start + 1; position < html.length; position += 1) {
    const letter = html.charAt(position);
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if (letter === ">") {
      return position + 1;
    } else if ((letter === '"' || letter === "'") && before === "=") {
      quote = letter;
    }
    if (!/\s/.test(letter)) before = letter;
  }
  return html.length;
}

function after(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from);
  return found === -1 ? html.length : found + text.length;
}
