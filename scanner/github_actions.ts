import type { Report } from "../shared/report.ts";

/** GitHub shows ten errors of a step at most; the summary and the reports have the rest. */
const maxAnnotations = 10;

/**
 * Workflow commands that make each failing finding an annotation of the run. The runner reads them from stderr too, so
 * they never stand in a report on stdout (https://docs.github.com/actions/reference/workflow-commands).
 */
export function annotations(report: Report): readonly string[] {
  const failing = report.checks.flatMap((check) =>
    check.findings
      .filter((finding) => finding.status === "FAIL" && !finding.waived)
      .map((finding) => `::error title=${property(`${check.vuln_id} ${check.check}`)}::${message(finding.detail)}`),
  );
  const left = failing.length - maxAnnotations;
  if (left <= 0) return failing;
  return [...failing.slice(0, maxAnnotations), `::notice::${left} more findings fail; the job summary lists them`];
}

function message(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
