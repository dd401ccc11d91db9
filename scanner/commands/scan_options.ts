import type { DecisionFiles } from "../decisions/decisions.ts";
import { failOnWords, parseFailOn, type FailRule } from "../decisions/fail_on.ts";
import { reportFormats } from "../reports/formats.ts";
import type { ReportFormat } from "../reports/report_format.ts";
import { UsageError } from "../../shared/usage_error.ts";

/** The report options of `scan` and `evaluate` as typed on the command line. */
export interface ReportFlags {
  readonly format?: string;
  readonly output?: string;
  readonly failOn?: string;
  readonly failOnNew?: boolean;
  readonly threshold?: string;
  readonly waivers?: string;
  readonly attestations?: string;
  readonly baseline?: string;
}

export interface ReportOptions extends DecisionFiles, FailRule {
  readonly formats: readonly ReportFormat[];
  /** A directory for `scan.<extension>`; null: the one format goes to stdout. */
  readonly outputDir: string | null;
  readonly thresholdFile: string | null;
}

/** Throws `UsageError` naming everything that is wrong. */
export function parseReportOptions(flags: ReportFlags): ReportOptions {
  const problems: string[] = [];
  const names = splitList(flags.format ?? "table");
  const formats = [...new Set(names)].map((name) => reportFormats.find((format) => format.name === name) ?? name);
  const unknown = formats.filter((format) => typeof format === "string");
  const known = reportFormats.map((format) => format.name).join(", ");
  if (unknown.length > 0 || formats.length === 0) {
    problems.push(
      `--format ${JSON.stringify(flags.format)}: ${unknown.map((name) => `there is no format ${JSON.stringify(name)}; `).join("")}expected one or more of ${known}`,
    );
  }
  if (formats.length > 1 && flags.output === undefined) {
    problems.push(
      `--format ${JSON.stringify(flags.format)}: several formats need --output DIR, where each becomes a file`,
    );
  }
  if (flags.output === "") problems.push("--output: expected a directory");
  const failOnText = flags.failOn ?? "fail";
  const failOn = parseFailOn(failOnText);
  if (failOn === null) problems.push(`--fail-on ${JSON.stringify(failOnText)}: expected ${failOnWords}`);
  if (flags.failOnNew === true && flags.baseline === undefined) {
    problems.push("--fail-on-new: needs --baseline REPORT.json to know what is new");
  }
  if (problems.length > 0 || failOn === null) throw new UsageError(problems);
  return {
    formats: formats.filter((format) => typeof format !== "string"),
    outputDir: flags.output ?? null,
    failOn,
    failOnText,
    thresholdFile: flags.threshold ?? null,
    onlyNew: flags.failOnNew === true,
    waiversFile: flags.waivers ?? null,
    attestationsFile: flags.attestations ?? null,
    baselineFile: flags.baseline ?? null,
  };
}

/** `a, b,c` as a list; empty items are dropped. */
export function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
