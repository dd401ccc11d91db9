import { stringify } from "csv-stringify/sync";
import type { CheckResult, Finding } from "../../shared/report.ts";
import { attestationLine } from "./disposition.ts";
import type { ReportFormat } from "./report_format.ts";

const columns = {
  check: (check: CheckResult) => check.check,
  vuln_id: (check: CheckResult) => check.vuln_id,
  stig_id: (check: CheckResult) => check.stig_id,
  category: (check: CheckResult) => check.category,
  severity: (check: CheckResult) => check.severity,
  title: (check: CheckResult) => check.title,
  check_status: (check: CheckResult) => check.status,
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
  fingerprint: (_: CheckResult, finding: Finding) => finding.fingerprint,
} as const;

/** One finding a row, for spreadsheets: formulas in the provider's names stay text. */
export const csvFormat: ReportFormat = {
  name: "csv",
  extension: "csv",
  isMachine: true,
  render({ checks }) {
    const rows = checks.flatMap((check) =>
      check.findings.map((finding) => Object.values(columns).map((read) => read(check, finding))),
    );
    return stringify([Object.keys(columns), ...rows], { escape_formulas: true, record_delimiter: "windows" });
  },
};
