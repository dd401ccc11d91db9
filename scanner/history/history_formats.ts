import type { History } from "../../shared/schemas/history.ts";
import { toCsv } from "../reports/csv.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { historyPage, secondsBetween, type HistoryPage } from "./history_page.ts";
import type { ControlView, KsiView } from "./ksi.ts";
import { ksiColumns, ksiPage, ksiRows } from "./ksi_page.ts";
import { renderHtml, renderMarkdown, renderText } from "./render_page.ts";

export type HistoryView = History | KsiView | ControlView;

export const historyFormats: readonly Format<HistoryView, { readonly width: number }>[] = [
  { name: "table", extension: "txt", render: (view, options) => renderText(pageOf(view), options) },
  { name: "json", extension: "json", render: (view) => `${toJson(view, 2)}\n` },
  { name: "csv", extension: "csv", render: csvOf },
  { name: "html", extension: "html", render: (view) => renderHtml(pageOf(view)) },
  { name: "markdown", extension: "md", render: (view) => renderMarkdown(pageOf(view)) },
];

function pageOf(view: HistoryView): HistoryPage {
  return view.schema === "scanstream.history/1" ? historyPage(view) : ksiPage(view);
}

/** A row for each interval; by indicator or control a row for each day. */
function csvOf(view: HistoryView): string {
  if (view.schema !== "scanstream.history/1") return toCsv(ksiColumns, ksiRows(view));
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
