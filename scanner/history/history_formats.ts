import type { History } from "../../shared/schemas/history.ts";
import { toCsv } from "../reports/csv.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { historyPage, secondsBetween, type HistoryPage } from "./history_page.ts";
import { controlColumns, controlPage, controlRows } from "./control_page.ts";
import type { ControlView } from "./control_view.ts";
import { renderText } from "./render_text.ts";

export type HistoryView = History | ControlView;

export const historyFormats: readonly Format<HistoryView, { readonly width: number }>[] = [
  { name: "table", extension: "txt", render: (view, options) => renderText(pageOf(view), options) },
  { name: "json", extension: "json", render: (view) => `${toJson(view, 2)}\n` },
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
