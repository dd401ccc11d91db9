import { controlResults } from "./controls.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";

/** The report as it is, and its verdicts by control: schema `scanstream.report/1` (`shared/report.schema.json`). */
export const jsonFormat: ReportFormat = {
  name: "json",
  extension: "json",
  isMachine: true,
  render: (report, options) => `${toJson({ ...report, controls: controlResults(report, revisionOf(options)) })}\n`,
};

/** JSON that every parser takes: many refuse the escape of half a surrogate pair, so that one becomes U+FFFD. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part), 2);
}
