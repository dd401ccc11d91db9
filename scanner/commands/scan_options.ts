import type { FailOn } from "../../command_line/exit_code.ts";
import type { DecisionFiles } from "../decisions/decisions.ts";
import { reportFormats } from "../reports/formats.ts";
import type { ReportFormat } from "../reports/report_format.ts";
import { UsageError } from "../../shared/usage_error.ts";

/** The report options of `scan` and `evaluate` as typed on the command line. */
export interface ReportFlags {
  readonly format?: string;
  readonly output?: string;
  readonly failOn?: string;
  readonly failOnNew?: boolean;
  readonly waivers?: string;
  readonly attestations?: string;
  readonly baseline?: string;
  readonly checklist?: string;
}

export interface ReportOptions extends DecisionFiles {
  readonly formats: readonly ReportFormat[];
  /** A directory for `scan.<extension>`; null: the one format goes to stdout. */
  readonly outputDir: string | null;
  /** A CKLB or CKL that people worked in; null: the checklists begin empty. */
  readonly checklistFile: string | null;
  readonly failOn: FailOn;
  readonly onlyNew: boolean;
}

const failOns: readonly string[] = ["fail", "manual", "never"] satisfies readonly FailOn[];

/** Throws `UsageError` naming everything that is wrong. */
export function parseReportOptions(flags: ReportFlags): ReportOptions {
  const problems: string[] = [];
  const everyName = reportFormats.map((format) => format.name);
  const names = splitList(flags.format ?? "table").flatMap((name) => (name === "all" ? everyName : [name]));
  const formats = [...new Set(names)].map((name) => reportFormats.find((format) => format.name === name) ?? name);
  const unknown = formats.filter((format) => typeof format === "string");
  const known = [...everyName, "all"].join(", ");
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
  const failOn = flags.failOn ?? "fail";
  if (!isFailOn(failOn)) problems.push(`--fail-on ${JSON.stringify(failOn)}: expected one of ${failOns.join(", ")}`);
  if (flags.failOnNew === true && flags.baseline === undefined) {
    problems.push("--fail-on-new: needs --baseline REPORT.json to know what is new");
  }
  if (problems.length > 0 || !isFailOn(failOn)) throw new UsageError(problems);
  return {
    formats: formats.filter((format) => typeof format !== "string"),
    outputDir: flags.output ?? null,
    failOn,
    onlyNew: flags.failOnNew === true,
    waiversFile: flags.waivers ?? null,
    attestationsFile: flags.attestations ?? null,
    baselineFile: flags.baseline ?? null,
    checklistFile: flags.checklist ?? null,
  };
}

/** `a, b,c` as a list; empty items are dropped. */
export function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function isFailOn(text: string): text is FailOn {
  return failOns.includes(text);
}
