import type { Report } from "../../shared/report.ts";
import { escapeInvisible } from "../../shared/text.ts";
import { controlResults } from "./controls.ts";
import type { RenderOptions } from "./report_format.ts";

/** The report as it is, and its verdicts by control: schema `scanstream.report/1` (`shared/report.schema.json`). */
export function renderJson(report: Report, { revision }: RenderOptions): string {
  return toJson({ ...report, controls: controlResults(report, revision) });
}

/** A file of JSON that every parser takes: many refuse the escape of half a surrogate pair, so that one becomes U+FFFD. */
export function toJson(value: unknown): string {
  const wellFormed = (_key: string, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part);
  return `${escapeInvisible(JSON.stringify(value, wellFormed, 2))}\n`;
}
