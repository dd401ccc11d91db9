import { appendFile } from "node:fs/promises";
import type { CommandIo } from "../../command_line/command_io.ts";
import type { Outcome } from "../../command_line/exit_code.ts";
import { explainWriteError } from "../../command_line/files.ts";
import { printable, writeLines } from "../../command_line/terminal.ts";
import type { Report } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import type { Revision } from "../catalog/catalog.ts";
import { levelOf } from "../reports/benchmark_rules.ts";
import { renderMarkdown } from "../reports/markdown.ts";
import { markdownText } from "../reports/markdown_text.ts";
import { worstFirst } from "../reports/result_text.ts";

export interface NamedReport {
  /** Name of the organization; null: the run has one. */
  readonly name: string | null;
  readonly report: Report;
  /** The revision of the STIG that it was evaluated by. */
  readonly revision: Revision;
}

/** Facts about the end of a run that its reports do not have. */
export interface RunEnd {
  /** Markdown before the reports. */
  readonly overview: string;
  /** Why the run does not exit with 0, a line each. */
  readonly problems: readonly string[];
}

/** The end of a run over one organization, for GitHub. */
export function endOf(outcome: Outcome, line: string): RunEnd {
  return { overview: `${markdownText(line)}\n`, problems: outcome === "ok" ? [] : [line] };
}

/** Gives the job a summary page and annotations in GitHub Actions; a summary that cannot be written fails nothing. */
export async function writeGitHubFeedback(
  reports: readonly NamedReport[],
  io: CommandIo,
  { overview, problems }: RunEnd,
): Promise<void> {
  const isInSummary = await writeJobSummary(reports, io, overview);
  await writeOutputs(reports, io);
  if (io.env["GITHUB_ACTIONS"] !== "true") return;
  const failing = annotations(reports, { isInSummary });
  const others = problems.map((line) => `::error title=scanstream::${message(line)}`);
  for (const annotation of failing.length > 0 ? failing : others) io.terminal.write(`${annotation}\n`);
}

/** Returns true when the summary has all reports whole. */
async function writeJobSummary(reports: readonly NamedReport[], io: CommandIo, overview: string): Promise<boolean> {
  const summaryFile = io.env["GITHUB_STEP_SUMMARY"];
  if (summaryFile === undefined || summaryFile === "") return false;
  const render = ({ report, revision }: NamedReport) =>
    renderMarkdown(report, { color: false, width: 100, toolVersion: io.toolVersion, revision });
  const markdown = [overview, ...reports.map(render)].filter((text) => text !== "").join("\n");
  const isWhole = markdown.length <= maxSummaryLength;
  try {
    await appendFile(summaryFile, isWhole ? markdown : `${shorten(markdown, maxSummaryLength)}\n\n… cut short\n`);
    return isWhole;
  } catch (error) {
    writeLines(io, explainWriteError("the job summary (GITHUB_STEP_SUMMARY)", error));
    return false;
  }
}

/** The counts of rules over all reports as outputs of the step, for later steps: `failed`, `passed`, `manual`, `not-applicable`. */
async function writeOutputs(reports: readonly NamedReport[], io: CommandIo): Promise<void> {
  const file = io.env["GITHUB_OUTPUT"];
  if (file === undefined || file === "" || reports.length === 0) return;
  const names = { failed: "fail", passed: "pass", manual: "manual", "not-applicable": "not_applicable" } as const;
  const lines = Object.entries(names).map(
    ([name, state]) => `${name}=${reports.reduce((sum, { report }) => sum + report.summary[state], 0)}\n`,
  );
  await appendFile(file, lines.join("")).catch((error: unknown) =>
    writeLines(io, explainWriteError("the outputs of the step (GITHUB_OUTPUT)", error)),
  );
}

/** GitHub refuses a summary of more than 1 MiB as a whole. */
const maxSummaryLength = 250_000;

/** GitHub shows ten errors of a step at most; the reports have the rest, and the job summary where it has them all. */
const maxAnnotations = 10;

/**
 * Workflow commands that make each failing finding an annotation of the run. The runner reads them from stderr too, so
 * they never stand in a report on stdout (https://docs.github.com/actions/reference/workflow-commands).
 */
function annotations(reports: readonly NamedReport[], page: { readonly isInSummary: boolean }): readonly string[] {
  const open = reports.flatMap(({ name, report }) =>
    report.checks.toSorted(worstFirst).flatMap((check) =>
      check.findings
        .filter((finding) => finding.status === "FAIL" && !finding.waived)
        .map((finding) => {
          const title = `${name === null ? "" : `${name} `}${check.vuln_id} ${levelOf(check)}`;
          return { finding, line: `::error title=${property(title)}::${message(finding.detail)}` };
        }),
    ),
  );
  // With `--fail-on-new` the findings of the baseline are not why the job fails.
  const rankOf = ({ finding }: (typeof open)[number]) => Number(finding.change !== "new");
  const failing = open.toSorted((one, other) => rankOf(one) - rankOf(other)).map(({ line }) => line);
  const left = failing.length - maxAnnotations;
  if (left <= 0) return failing;
  const place = page.isInSummary ? "job summary" : "report";
  return [...failing.slice(0, maxAnnotations), `::notice::${left} more findings failed; the ${place} lists them`];
}

/** One line without a line break, which would begin another command. */
function message(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
