import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { findingStates, ruleStates, stateOf } from "../../shared/rule_result.ts";
import { mapNotes } from "../../shared/schemas/finding_notes.ts";
import { shorten, toLine } from "../../shared/text.ts";
import { attestationLine, authorOf, stateLabels, tailoringLine } from "./result_text.ts";
import type { RenderOptions } from "./report_format.ts";

const noteColumns = mapNotes((name, { isInReports = false }) =>
  isInReports ? [[name, (_: CheckResult, finding: Finding) => finding[name] ?? ""] as const] : [],
);

const columns: Readonly<Record<string, (check: CheckResult, finding: Finding) => string>> = {
  check: (check) => check.check,
  vuln_id: (check) => check.vuln_id,
  stig_id: (check) => check.stig_id,
  category: (check) => check.category,
  severity: (check) => check.severity,
  title: (check) => check.title,
  check_status: (check) => stateLabels[stateOf(check)],
  status: (_, finding) => finding.status,
  reason: (_, finding) => finding.reason ?? "",
  resource_type: (_, finding) => finding.resource.type,
  resource_id: (_, finding) => finding.resource.id,
  resource_name: (_, finding) => finding.resource.name,
  expected: (_, finding) => finding.expected,
  actual: (_, finding) => finding.actual,
  detail: (_, finding) => finding.detail,
  waived: (_, finding) => String(finding.waived),
  waiver_reason: (_, finding) => finding.waiver?.reason ?? "",
  waiver_expires: (_, finding) => finding.waiver?.expires ?? "",
  attestation: (check) => attestationLine(check),
  change: (_, finding) => finding.change ?? "",
  automated: (_, finding) => finding.automated ?? "",
  advisory: (_, finding) => String(finding.advisory),
  remediation_date: (_, finding) => finding.plan?.remediation_date ?? "",
  overdue: (_, finding) => String(finding.plan?.overdue === true),
  stig_status: (_, finding) => finding.stig_status ?? "",
  tailoring: (check) => tailoringLine(check),
  waiver_by: (_, finding) => (finding.waiver === null ? "" : authorOf(finding.waiver)),
  ...Object.fromEntries(Object.values(noteColumns).flat()),
  fingerprint: (_, finding) => finding.fingerprint,
};

/** One finding a row, for spreadsheets: formulas in the provider's names stay text. */
export function renderCsv({ checks }: Report, { states = ruleStates }: RenderOptions): string {
  const rows = checks.flatMap((check) => {
    const stateIn = findingStates(check);
    return check.findings
      .filter((finding) => states.includes(stateIn(finding)))
      .map((finding) => Object.values(columns).map((read) => read(check, finding)));
  });
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
