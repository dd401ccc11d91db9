import type { Report } from "../../shared/report.ts";
import { controlResults } from "./controls.ts";
import type { RenderOptions, ReportFormat } from "./report_format.ts";

/** A format that is one JSON document. */
export function jsonDocument(
  name: string,
  extension: string,
  documentOf: (report: Report, options: RenderOptions) => unknown,
): ReportFormat {
  return {
    name,
    extension,
    isMachine: true,
    render: (report, options) => `${toJson(documentOf(report, options))}\n`,
  };
}

/** The report as it is, and its verdicts by control: schema `scanstream.report/1` (`shared/report.schema.json`). */
export const jsonFormat: ReportFormat = jsonDocument("json", "json", (report, { revision }) => ({
  ...report,
  controls: controlResults(report, revision),
}));

/** JSON that every parser takes: many refuse the escape of half a surrogate pair, so that one becomes U+FFFD. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part), 2);
}
