import { appendFile } from "node:fs/promises";
import type { CommandIo } from "../../command_line/command_io.ts";
import { explainWriteError } from "../../command_line/files.ts";
import { printable, writeLines } from "../../command_line/terminal.ts";
import type { Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { shorten } from "../../shared/text.ts";
import type { Revision } from "../catalog/catalog.ts";
import { levelOf } from "../reports/report_format.ts";
import { renderMarkdown } from "../reports/markdown.ts";
import { markdownText } from "../reports/markdown_text.ts";
import { failureText, openFailuresOf, worstFirst } from "../reports/result_text.ts";
import type { ScanEnd } from "./summary.ts";

/** The end of the run over one organization. */
interface EndedRun extends ScanEnd {
  /** Name of the organization; null: the run has one. */
  readonly name: string | null;
  /** The revision of the STIG that it was evaluated by. */
  readonly revision: Revision;
}

/** GitHub refuses a summary of more than 1 MiB as a whole. */
const maxSummaryLength = 250_000;
/** GitHub shows ten errors of a step at most; the reports have the rest, and the job summary where it has them all. */
const maxAnnotations = 10;
/** Outputs of the step, for later steps: the counts of rules over all reports. */
const outputs = { failed: "fail", passed: "pass", manual: "manual", "not-applicable": "not_applicable" } as const;

/**
 * Gives the job a summary page, outputs and annotations in GitHub Actions; a file that cannot be written fails nothing. `overview`:
 * Markdown before the reports.
 */
export async function writeGitHubFeedback(
  runs: readonly EndedRun[],
  io: CommandIo,
  overview: string = runs.map(({ line }) => `${markdownText(line)}\n`).join(""),
): Promise<void> {
  const reports = runs.flatMap(({ report, ...run }) => (report === null ? [] : { ...run, report }));
  const { GITHUB_STEP_SUMMARY: summaryFile, GITHUB_OUTPUT: outputFile, GITHUB_ACTIONS: isInActions } = io.env;
  const append = async (file: string, text: string, what: string): Promise<boolean> => {
    const problem = await appendFile(file, text).catch((error: unknown) => explainWriteError(what, error));
    if (problem !== undefined) writeLines(io, problem);
    return problem === undefined;
  };
  let isInSummary = false;
  if (summaryFile) {
    const rendered = reports.map(({ report, revision }) =>
      renderMarkdown(report, { color: false, width: 100, toolVersion: io.toolVersion, revision }),
    );
    const markdown = [overview, ...rendered].filter((text) => text !== "").join("\n");
    const isWhole = markdown.length <= maxSummaryLength;
    const text = isWhole ? markdown : `${shorten(markdown, maxSummaryLength)}\n\n… cut short\n`;
    isInSummary = (await append(summaryFile, text, "the job summary (GITHUB_STEP_SUMMARY)")) && isWhole;
  }
  if (outputFile && reports.length > 0) {
    const checks = countStates(reports.flatMap(({ report }) => report.checks));
    const lines = Object.entries(outputs).map(([name, state]) => `${name}=${checks[state]}\n`);
    await append(outputFile, lines.join(""), "the outputs of the step (GITHUB_OUTPUT)");
  }
  if (isInActions !== "true") return;
  const failing = annotations(reports, isInSummary ? "job summary" : "report");
  const others = runs
    .filter(({ outcome }) => outcome !== "ok")
    .map(({ name, line }) => `::error title=scanstream::${message(name === null ? line : `${name}: ${line}`)}`);
  for (const annotation of failing.length > 0 ? failing : others) io.terminal.write(`${annotation}\n`);
}

/**
 * Workflow commands that make each failing finding an annotation of the run. The runner reads them from stderr too, so
 * they never stand in a report on stdout (https://docs.github.com/actions/reference/workflow-commands).
 */
function annotations(
  reports: readonly { readonly name: string | null; readonly report: Report }[],
  place: string,
): readonly string[] {
  const open = reports.flatMap(({ name, report }) =>
    report.checks.toSorted(worstFirst).flatMap((check) => {
      const title = property(`${name === null ? "" : `${name} `}${check.vuln_id} ${levelOf(check)}`);
      return openFailuresOf(check).map(({ change, detail }) => {
        return { change, line: `::error title=${title}::${message(failureText(check, detail))}` };
      });
    }),
  );
  // With `--fail-on-new` the findings of the baseline are not why the job fails.
  const rankOf = ({ change }: (typeof open)[number]) => Number(change !== "new");
  const failing = open.toSorted((one, other) => rankOf(one) - rankOf(other)).map(({ line }) => line);
  const left = failing.length - maxAnnotations;
  if (left <= 0) return failing;
  return [...failing.slice(0, maxAnnotations), `::notice::${left} more findings failed; the ${place} lists them`];
}

/** One line without a line break, which would begin another command. */
function message(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
