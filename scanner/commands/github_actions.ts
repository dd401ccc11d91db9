import type { Report } from "../../shared/report.ts";
import { printable } from "../../command_line/terminal.ts";

/** GitHub shows ten errors of a step at most; the reports have the rest, and the job summary where it has them all. */
const maxAnnotations = 10;

/**
 * Workflow commands that make each failing finding an annotation of the run. The runner reads them from stderr too, so
 * they never stand in a report on stdout (https://docs.github.com/actions/reference/workflow-commands).
 */
export function annotations(report: Report, page: { readonly isInSummary: boolean }): readonly string[] {
  const failing = report.checks.flatMap((check) =>
    check.findings
      .filter((finding) => finding.status === "FAIL" && !finding.waived)
      .map((finding) => `::error title=${property(`${check.vuln_id} ${check.check}`)}::${message(finding.detail)}`),
  );
  const left = failing.length - maxAnnotations;
  if (left <= 0) return failing;
  const place = page.isInSummary ? "job summary" : "report";
  return [...failing.slice(0, maxAnnotations), `::notice::${left} more findings fail; the ${place} lists them`];
}

/** One line without a line break of its own, which would begin another command. */
function message(text: string): string {
  return printable(text).replaceAll("%", "%25");
}

function property(text: string): string {
  return message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
