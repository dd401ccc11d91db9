import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { ruleStates, stateOf } from "../../shared/rule_result.ts";
import { mapNotes } from "../../shared/schemas/finding_notes.ts";
import { shorten, toLine } from "../../shared/text.ts";
import { attestationLine, authorOf, stateLabels, tailoringLine } from "./result_text.ts";
import type { RenderOptions } from "./report_format.ts";

const noteColumns = mapNotes((name, { isInReports = false }) =>
  isInReports ? [[name, (_: CheckResult, finding: Finding) => finding[name] ?? ""] as const] : [],
);

const columns = {
  check: (check: CheckResult) => check.check,
  vuln_id: (check: CheckResult) => check.vuln_id,
  stig_id: (check: CheckResult) => check.stig_id,
  category: (check: CheckResult) => check.category,
  severity: (check: CheckResult) => check.severity,
  title: (check: CheckResult) => check.title,
  check_status: (check: CheckResult) => stateLabels[stateOf(check)],
  status: (_: CheckResult, finding: Finding) => finding.status,
  reason: (_: CheckResult, finding: Finding) => finding.reason ?? "",
  resource_type: (_: CheckResult, finding: Finding) => finding.resource.type,
  resource_id: (_: CheckResult, finding: Finding) => finding.resource.id,
  resource_name: (_: CheckResult, finding: Finding) => finding.resource.name,
  expected: (_: CheckResult, finding: Finding) => finding.expected,
  actual: (_: CheckResult, finding: Finding) => finding.actual,
  detail: (_: CheckResult, finding: Finding) => finding.detail,
  waived: (_: CheckResult, finding: Finding) => String(finding.waived),
  waiver_reason: (_: CheckResult, finding: Finding) => finding.waiver?.reason ?? "",
  waiver_expires: (_: CheckResult, finding: Finding) => finding.waiver?.expires ?? "",
  attestation: (check: CheckResult) => attestationLine(check),
  change: (_: CheckResult, finding: Finding) => finding.change ?? "",
  automated: (_: CheckResult, finding: Finding) => finding.automated ?? "",
  advisory: (_: CheckResult, finding: Finding) => String(finding.advisory),
  remediation_date: (_: CheckResult, finding: Finding) => finding.plan?.remediation_date ?? "",
  overdue: (_: CheckResult, finding: Finding) => String(finding.plan?.overdue === true),
  stig_status: (_: CheckResult, finding: Finding) => finding.stig_status ?? "",
  tailoring: (check: CheckResult) => tailoringLine(check),
  waiver_by: (_: CheckResult, finding: Finding) => (finding.waiver === null ? "" : authorOf(finding.waiver)),
  ...Object.fromEntries(Object.values(noteColumns).flat()),
  fingerprint: (_: CheckResult, finding: Finding) => finding.fingerprint,
} as const;

/** One finding a row, for spreadsheets: formulas in the provider's names stay text. */
export function renderCsv({ checks }: Report, { states = ruleStates }: RenderOptions): string {
  const rows = checks.flatMap((check) =>
    check.findings
      .filter((finding) => states.includes(stateOf(finding)))
      .map((finding) => Object.values(columns).map((read) => read(check, finding))),
  );
  return toCsv(Object.keys(columns), rows);
}

/** A table for spreadsheets, in which no text of others becomes a formula. */
export function toCsv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const records = [header, ...rows.map((row) => row.map(toCell))];
  return records.map((record) => `${record.map(quoted).join(",")}\r\n`).join("");
}

/** As RFC 4180 quotes a cell, which has one line here. */
function quoted(cell: string): string {
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Excel puts what is longer into the next cell, where it may be a formula. */
const maxCellLength = 32_767;

/**
 * One line, no matter what ends a line or a record for the reader, with an apostrophe before what a spreadsheet would run: at
 * the beginning of the cell, and after what may separate cells: a semicolon where the comma is the decimal mark, and a
 * comma for readers that know no quotes.
 */
function toCell(text: string): string {
  const line = toLine(text, maxCellLength).replace(/(^|[;,])(?=[\s"\ufeff]*[=+\-@＝＋－＠])/g, "$1'");
  return shorten(line, maxCellLength);
}
