import * as v from "valibot";
import { issueText } from "../../shared/issue_text.ts";
import type { Report } from "../../shared/report.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { parseJsonText } from "../evidence/json_text.ts";

/** Some hundred thousand findings. */
export const maxReportBytes = 256 * 1_048_576;

/** Reads a report of `--format json`. Throws `ContentError`. */
export function parseReport(text: string): Report {
  return toReport(parseJsonText(text));
}

/** The report that a value is; throws as `parseReport` does. */
export function toReport(value: unknown): Report {
  const parsed = v.safeParse(reportSchema, value, { abortEarly: true });
  if (!parsed.success)
    throw new ContentError([`it is not a report written with --format json: ${issueText(parsed.issues[0])}`]);
  const { scan, checks } = parsed.output;
  const detected = checks.flatMap(({ findings }) => findings.flatMap(({ detected_first: time }) => time ?? []));
  const wrong = [scan.started_at, scan.ended_at, ...detected].find((time) => Number.isNaN(Date.parse(time)));
  if (wrong !== undefined)
    throw new ContentError([
      `expected a time such as 2026-11-01T10:00:00Z, found ${JSON.stringify(wrong.slice(0, 40))}`,
    ]);
  return parsed.output;
}
