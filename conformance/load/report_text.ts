import { printable } from "../../command_line/terminal.ts";
import type { LoadReport } from "./run_load.ts";
import type { Percentiles } from "./tally.ts";

/** The report of a load run as lines for a person. */
export function reportText(report: LoadReport): string {
  const { open_at_start: openAtStart, opening_seconds: openingSeconds } = report;
  const rate = openingSeconds > 0 ? ` (${Math.round(openAtStart / openingSeconds)}/s)` : "";
  const lines: (readonly [name: string, text: string])[] = [
    ["Streams", `${report.streams} asked for, ${report.open_at_end} open at the end`],
    [
      "Opened",
      `${openAtStart} in ${openingSeconds} s${rate}, ${report.opened} in all${percentilesText(report.opening_ms)}`,
    ],
    ...report.refused.map(refusedText),
    ...Object.entries(report.failed).map(([code, count]) => ["Failed", `${count} ${code}`] as const),
    ["Reconnects", `${report.reconnects}${percentilesText(report.away_ms)}`],
    ...Object.entries(report.closed).map(([reason, count]) => ["Closed", `${count} ${printable(reason)}`] as const),
    ["Held", `${report.held_seconds} s`],
    ["Events", `${report.events} received${publishedText(report)}`],
    ...(report.publish_problem === null
      ? []
      : [["Publishing", `ended early: ${printable(report.publish_problem)}`] as const]),
    ...deliveryLines(report),
  ];
  return lines.map(([name, text]) => `${name.padEnd(11)} ${text}\n`).join("");
}

/** Slower than asked for when the gateway takes its time: an event is sent when the one before was taken. */
function publishedText({ published, held_seconds: seconds }: LoadReport): string {
  if (published === null) return "";
  return `, ${published} published${seconds > 0 ? ` (${(published / seconds).toFixed(1)}/s)` : ""}`;
}

function refusedText({ status, detail, count, retry_after_seconds: wait }: LoadReport["refused"][number]) {
  const words = detail === null ? "" : `: ${printable(detail)}`;
  const range =
    wait === null ? "" : `, Retry-After ${wait.least === wait.most ? wait.least : `${wait.least} to ${wait.most}`} s`;
  return ["Refused", `${count} with ${status}${range}${words}`] as const;
}

function deliveryLines(report: LoadReport): readonly (readonly [string, string])[] {
  if (report.published === null) return [["Lost", "not known: --publish sends numbered events"]];
  return [
    ["Delivery", percentilesText(report.delivery_ms).replace(/^; /, "") || "none"],
    ["Lost", `${report.lost} while a stream was open, ${report.missed_while_reconnecting} between two openings`],
    ["Repeated", String(report.repeated)],
  ];
}

function percentilesText(percentiles: Percentiles | null): string {
  if (percentiles === null) return "";
  const { p50, p90, p99, max } = percentiles;
  return `; p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, max ${max} ms`;
}
