import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { lexer, type Token, type Tokens, walkTokens } from "marked";
import { root } from "./navigation.ts";

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

export interface Document {
  /** From the root of the repository. */
  readonly file: string;
  readonly title: string;
  /** The first sentence of its first paragraph, as plain text. */
  readonly summary: string;
  readonly headings: readonly Heading[];
  /** As they stand there, images too. */
  readonly links: readonly string[];
  readonly tokens: readonly Token[];
}

export async function readDocument(file: string): Promise<Document> {
  return parseDocument(file, await readFile(join(root, file), "utf8"));
}

export function parseDocument(file: string, text: string): Document {
  const tokens = lexer(text);
  const headings: Heading[] = [];
  const links: string[] = [];
  const anchors = new Map<string, number>();
  // The callback returns no promise that could be waited for.
  void walkTokens(tokens, (token) => {
    if (token.type === "heading") {
      const { depth, tokens: inside } = token as Tokens.Heading;
      const title = plainText(inside);
      headings.push({ depth, text: title, anchor: anchorOf(title, anchors) });
    }
    if (token.type === "link" || token.type === "image") links.push((token as Tokens.Link).href);
    if (token.type === "html") {
      for (const [, href = ""] of (token as Tokens.HTML).raw.matchAll(/\b(?:href|src|srcset)="([^"\s]+)/g))
        links.push(href);
    }
  });
  const paragraph = tokens.find(({ type }) => type === "paragraph") as Tokens.Paragraph | undefined;
  const first = plainText(paragraph?.tokens ?? []).replaceAll(/\s+/g, " ");
  const summary = /^.*?[.!?](?= |$)/.exec(first)?.[0] ?? first.replace(/:$/, ".");
  return { file, title: headings[0]?.text ?? file, summary, headings, links, tokens };
}

/** Text without its marks. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ("tokens" in token && token.tokens !== undefined) return plainText(token.tokens);
      // Source text of Markdown: `&` is a plain character in it, and entities are rare.
      return "text" in token && typeof token.text === "string" ? unescapeHtml(token.text) : "";
    })
    .join("");
}

function unescapeHtml(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

/** As GitHub makes them, so that a link leads to the same place there and here. */
function anchorOf(text: string, used: Map<string, number>): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

export interface Target {
  /** From the root of the repository; null: another site. */
  readonly file: string | null;
  readonly anchor: string;
}

/** Where a link of a document leads. */
export function targetOf(file: string, link: string): Target {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link) || link.startsWith("//")) return { file: null, anchor: "" };
  const [path = "", anchor = ""] = link.split("#", 2);
  const target = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), decodeURIComponent(path)));
  return { file: target, anchor };
}
