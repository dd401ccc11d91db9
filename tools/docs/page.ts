import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import packageJson from "../../package.json" with { type: "json" };
import { type Document, plainText, targetOf } from "./document.ts";
import type { Group } from "./navigation.ts";

export interface Site {
  readonly groups: readonly Group[];
  readonly byFile: ReadonlyMap<string, Document>;
  /** Where source files can be read; null: nowhere yet. */
  readonly repository: string | null;
}

/** The page of a document, from the root of the site. */
export function pageName(file: string): string {
  return file === "README.md" ? "index.html" : file.replace(/\.md$/, ".html");
}

/** A whole page: its text, and the documents by who reads them. */
export function renderPage(document: Document, site: Site): string {
  const base = "../".repeat(document.file.split("/").length - 1);
  const title = document.file === "README.md" ? packageJson.name : `${document.title} · ${packageJson.name}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(document.summary)}">
<link rel="icon" href="${base}icon.svg">
<link rel="stylesheet" href="${base}style.css">
<script type="module" src="${base}search.js"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="name" href="${base}index.html">${escapeHtml(packageJson.name)}</a>
<form role="search" data-base="${base}">
<input type="search" name="q" placeholder="Search" aria-label="Search the documents" autocomplete="off">
<ol hidden aria-label="Results"></ol>
</form>
</header>
<nav aria-label="Documents"><details><summary>Documents</summary>
${site.groups.map((group) => renderGroup(group, document, site, base)).join("\n")}
</details></nav>
<main id="text">
${renderText(document, site)}
</main>
</body>
</html>
`;
}

function renderGroup({ title, files }: Group, current: Document, site: Site, base: string): string {
  const items = files.map((file) => {
    const mark = file === current.file ? ' aria-current="page"' : "";
    const name = file === "README.md" ? "Overview" : (site.byFile.get(file)?.title ?? file);
    return `<li><a href="${base}${pageName(file)}"${mark}>${escapeHtml(name)}</a></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
}

function renderText(document: Document, site: Site): string {
  const anchors = document.headings.values();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const { anchor = "" } = anchors.next().value ?? {};
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(document, href, site);
        return address === null ? text : `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      // A wide table scrolls by itself, not the page.
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  return marked.parser([...document.tokens]);
}

/** Another document's page, another site, or the source in the repository; null where that is nowhere yet. */
function addressOf(document: Document, href: string, site: Site): string | null {
  const { file, anchor } = targetOf(document.file, href);
  if (file === null) return href;
  const fragment = anchor === "" ? "" : `#${anchor}`;
  if (site.byFile.has(file)) return `${posix.relative(posix.dirname(document.file), pageName(file))}${fragment}`;
  if (/\.(?:png|svg)$/.test(file)) return href;
  return site.repository === null ? null : `${site.repository}/blob/main/${file}${fragment}`;
}

interface SearchEntry {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

/** One for each heading, with the text below it. */
export function searchEntries(document: Document): readonly SearchEntry[] {
  const anchors = document.headings.values();
  const entries: { page: string; title: string; heading: string; text: string }[] = [];
  for (const token of document.tokens) {
    if (token.type === "heading") {
      const { anchor = "", text: heading = "" } = anchors.next().value ?? {};
      entries.push({ page: `${pageName(document.file)}#${anchor}`, title: document.title, heading, text: "" });
    } else {
      const entry = entries.at(-1);
      if (entry !== undefined) entry.text += ` ${textOf(token).replaceAll(/\s+/g, " ")}`;
    }
  }
  return entries;
}

function textOf(token: Document["tokens"][number]): string {
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows]
      .flat()
      .map((cell) => plainText(cell.tokens))
      .join(" ");
  }
  if (token.type === "list") return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(" ");
  return token.type === "html" ? "" : plainText([token]);
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
