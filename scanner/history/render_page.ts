import { html } from "hono/html";
import { printable, textWidth, wrapText } from "../../command_line/terminal.ts";
import { renderPage } from "../reports/html_page.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import type { HistoryPage, HistoryTable } from "./history_page.ts";

/** The ways to write a page for people. */

const defaultWidth = 100;
const minWidth = 60;

/** For people in a terminal. */
export function renderText({ title, about, sections }: HistoryPage, { width }: { readonly width: number }): string {
  const columns = Math.max(width || defaultWidth, minWidth);
  const wrapped = (line: string) => wrapText(printable(line), columns);
  const lines = sections.flatMap((section) => [
    "",
    printable(section.title),
    ...section.lines.flatMap(wrapped),
    ...section.tables
      .filter(({ rows }) => rows.length > 0)
      .flatMap((table) => ["", ...wrapped(table.caption), ...textTable(table)]),
  ]);
  return `${[...wrapped(`${title}, ${about}`), ...lines].join("\n")}\n`;
}

/** Columns are as wide as their widest cell; the last one has no end. */
function textTable({ columns, rows }: HistoryTable): readonly string[] {
  const cells = [columns.map((name) => name.toUpperCase()), ...rows].map((row) => row.map(printable));
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => textWidth(row[index] ?? ""))));
  return cells.map((row) =>
    row
      .map((cell, index) => `${cell}${" ".repeat((widths[index] ?? 0) - textWidth(cell))}`)
      .join("  ")
      .trimEnd(),
  );
}

export function renderMarkdown({ title, about, sections }: HistoryPage): string {
  const parts = sections.flatMap((section) => [
    `## ${markdownText(section.title)}`,
    ...section.lines.map(markdownText),
    ...section.tables
      .filter(({ rows }) => rows.length > 0)
      .flatMap(({ caption, columns, rows }) => [
        markdownText(caption),
        [columns, columns.map(() => "---"), ...rows.map((row) => row.map(markdownCell))]
          .map((row) => `| ${row.join(" | ")} |`)
          .join("\n"),
      ]),
  ]);
  return `${[`# ${markdownText(title)}`, markdownText(about), ...parts].join("\n\n")}\n`;
}

export function renderHtml({ title, about, sections }: HistoryPage): string {
  return renderPage({
    title,
    about,
    main: html`${sections.map(
      (section) =>
        html`<h2>${section.title}</h2>
          ${section.lines.map((line) => html`<p>${line}</p>`)}
          ${section.tables.filter(({ rows }) => rows.length > 0).map(htmlTable)}`,
    )}`,
  });
}

function htmlTable({ caption, columns, rows }: HistoryTable) {
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map((name) => html`<th scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${row.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
