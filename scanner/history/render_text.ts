import { printable, textWidth, wrapText } from "../../command_line/terminal.ts";
import type { HistoryPage, HistoryTable } from "./history_page.ts";

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
