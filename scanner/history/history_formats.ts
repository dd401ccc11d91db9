import { printable, textWidth, wrapText } from "../../command_line/terminal.ts";
import type { History } from "../../shared/schemas/history.ts";
import { toCsv } from "../reports/csv.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { historyPage, secondsBetween, type HistoryPage, type HistoryTable } from "./history_page.ts";
import { controlColumns, controlPage, controlRows } from "./control_page.ts";
import type { ControlView } from "./control_view.ts";

export type HistoryView = History | ControlView;

export const historyFormats: readonly Format<HistoryView, { readonly width: number }>[] = [
  { name: "table", extension: "txt", render: (view, options) => renderText(pageOf(view), options) },
  { name: "json", extension: "json", render: (view) => `${toJson(view)}\n` },
  { name: "csv", extension: "csv", render: csvOf },
];

function pageOf(view: HistoryView): HistoryPage {
  return view.schema === "scanstream.history/1" ? historyPage(view) : controlPage(view);
}

/** A row for each interval; by control a row for each day. */
function csvOf(view: HistoryView): string {
  if (view.schema !== "scanstream.history/1") return toCsv(controlColumns, controlRows(view));
  const rows = view.organizations.flatMap(({ org_url: orgUrl, rules }) =>
    rules.flatMap(({ vuln_id, check, intervals }) =>
      intervals.map(({ from, to, status, reason }) => {
        const seconds = String(secondsBetween({ from, to }));
        return [orgUrl, vuln_id ?? "", check, from, to, seconds, status, reason ?? ""];
      }),
    ),
  );
  return toCsv(["org_url", "vuln_id", "check", "from", "to", "seconds", "status", "reason"], rows);
}

const defaultWidth = 100;
const minWidth = 60;

/** For people in a terminal. */
function renderText({ title, about, sections }: HistoryPage, { width }: { readonly width: number }): string {
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
