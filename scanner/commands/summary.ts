import * as v from "valibot";
import { exitCodes, type Outcome } from "../../command_line/exit_code.ts";
import { columnLines, wrapped } from "../../command_line/terminal.ts";
import type { Report } from "../../shared/report.ts";
import { countStates, ruleStates } from "../../shared/rule_result.ts";
import { statusCountsEntries } from "../../shared/schemas/scan.ts";
import { count, time, type Output } from "../../shared/schemas/primitives.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import type { Format } from "../reports/report_format.ts";

/** Summary of a run over several organizations: `scanstream.summary/1`. */

const organizationSchema = v.object({
  name: v.string(),
  org_url: v.string(),
  benchmark: v.pipe(v.string(), v.description("The revision of the STIG: `okta-idaas-stig-v1r2`")),
  status: v.pipe(
    v.picklist(["completed", "cancelled", "failed", "not_run"]),
    v.description("failed: nothing was evaluated; not_run: the run was interrupted before"),
  ),
  exit_code: v.pipe(v.nullable(count), v.description("What a run of it alone would exit with; null: not run")),
  scan_id: v.nullable(v.string()),
  checks: v.pipe(v.nullable(v.object(statusCountsEntries)), v.description("Counts of rules, as in its report")),
  gate: v.pipe(v.nullable(v.string()), v.description("What --fail-on says, in one line")),
  error: v.nullable(v.object({ code: v.string(), message: v.string(), remedy: v.nullable(v.string()) })),
  duration_ms: count,
  files: v.pipe(v.array(v.string()), v.description("The reports that were written")),
});

export const summarySchema = v.object({
  schema: v.literal("scanstream.summary/1"),
  benchmark: v.pipe(v.nullable(v.string()), v.description("Of all organizations; null: theirs differ")),
  started_at: time,
  ended_at: time,
  exit_code: v.pipe(count, v.description("Of the organizations' the first in the order 130, 4, 3, 2, 1, 0")),
  checks: v.pipe(v.object(statusCountsEntries), v.description("Counts of rules over all organizations")),
  organizations: v.array(organizationSchema),
});

export type Summary = Output<typeof summarySchema>;
type OrganizationSummary = Summary["organizations"][number];

/** The end of the scan of one organization. */
export interface ScanEnd {
  readonly outcome: Outcome;
  /** Null: nothing was evaluated, and `error` says why. */
  readonly report: Report | null;
  readonly error?: OrganizationSummary["error"];
  /** Why it ended so. */
  readonly line: string;
  /** The reports that were written. */
  readonly files?: readonly string[];
  readonly durationMs?: number;
}

interface SummarizedScan {
  readonly name: string;
  readonly orgUrl: string;
  readonly benchmark: string;
  /** Null: it was not run. */
  readonly end: ScanEnd | null;
}

export function summarize(
  scans: readonly SummarizedScan[],
  facts: Pick<Summary, "started_at" | "ended_at" | "exit_code">,
): Summary {
  const benchmarks = new Set(scans.map(({ benchmark }) => benchmark));
  const [benchmark = null] = benchmarks;
  return {
    schema: "scanstream.summary/1",
    benchmark: benchmarks.size === 1 ? benchmark : null,
    ...facts,
    checks: countStates(scans.flatMap(({ end }) => end?.report?.checks ?? [])),
    organizations: scans.map(toRow),
  };
}

function toRow({ name, orgUrl, benchmark, end }: SummarizedScan): OrganizationSummary {
  const { report = null, error = null } = end ?? {};
  return {
    name,
    org_url: orgUrl,
    benchmark,
    status: end === null ? "not_run" : (report?.scan.status ?? "failed"),
    exit_code: end === null ? null : exitCodes[end.outcome],
    scan_id: report?.scan.id ?? null,
    checks: report === null ? null : countStates(report.checks),
    gate: end !== null && report?.scan.status === "completed" ? end.line : null,
    error: error === null ? null : { code: error.code, message: error.message, remedy: error.remedy },
    duration_ms: end?.durationMs ?? 0,
    files: [...(end?.files ?? [])],
  };
}

/** Files of the summary, in the folder that the organizations share. */
export const summaryFormats: readonly Format<Summary, object>[] = [
  { name: "json", extension: "json", render: (summary) => `${toPrintableJson(summary, 2)}\n` },
  { name: "markdown", extension: "md", render: summaryMarkdown },
];

const headings = ["organization", "status", "failed", "manual", "passed", "N/A", "exit"];
/** All but the first two are numbers. */
const alignments = headings.map((_, at) => (at < 2 ? "left" : "right"));

export function summaryMarkdown(summary: Summary): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const notes = summary.organizations.map(({ name, error, gate }) => [name, error?.message ?? gate ?? ""] as const);
  return [
    "# Okta IDaaS STIG: all organizations",
    "",
    line(headings),
    line(alignments.map((side) => (side === "right" ? "---:" : "---"))),
    // Only a name is a text of others.
    ...rowsOf(summary).map(([name = "", ...cells]) => line([markdownCell(name), ...cells])),
    "",
    ...notes.flatMap(([name, note]) => (note === "" ? [] : [`- ${markdownText(name)}: ${markdownText(note)}`])),
    "",
  ].join("\n");
}

/** Text for people, on stdout: a table of numbers, and below it why an organization has none. */
export function summaryTable(summary: Summary, width: number): string {
  const notes = summary.organizations.flatMap(({ name, error }) =>
    error === null ? [] : wrapped(`${name}: ${error.message}`, 2, width),
  );
  const table = columnLines([headings, ...rowsOf(summary)], alignments);
  return `${[...table, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n")}\n`;
}

function rowsOf({ organizations, checks, exit_code: code }: Summary): readonly (readonly string[])[] {
  const counts = (of: Summary["checks"] | null) => ruleStates.map((state) => of?.[state].toString() ?? "");
  const done = organizations.filter(({ status }) => status === "completed").length;
  const rows = organizations.map(({ name, status, checks: own, exit_code: exit }) => {
    return [name, status.replace("_", " "), ...counts(own), String(exit ?? "")];
  });
  return [...rows, ["all", `${done} of ${organizations.length}`, ...counts(checks), String(code)]];
}
