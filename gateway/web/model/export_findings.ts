import { stateOf } from "../../../shared/report.ts";
import { findCheck } from "./check_catalog.ts";
import type { Finding } from "./scan_model.ts";

/** What a list of findings shows, as a file for other programs. */
export interface ExportedFindings {
  readonly name: string;
  readonly orgUrl: string | null;
  readonly findings: readonly Finding[];
}

const columns = [
  "state",
  "category",
  "vuln_id",
  "stig_id",
  "check",
  "controls",
  "resource_type",
  "resource_id",
  "resource_name",
  "expected",
  "actual",
  "detail",
  "reason",
  "fingerprint",
] as const;

export function toJsonFile({ name, orgUrl, findings }: ExportedFindings): {
  readonly name: string;
  readonly file: Blob;
} {
  const text = JSON.stringify({ org_url: orgUrl, findings: findings.map(toRow) }, null, 2);
  return { name: `${name}.json`, file: new Blob([text, "\n"], { type: "application/json" }) };
}

export function toCsvFile({ name, findings }: ExportedFindings): { readonly name: string; readonly file: Blob } {
  const lines = findings.map(toRow).map((row) => columns.map((column) => toCell(row[column])).join(","));
  return {
    name: `${name}.csv`,
    file: new Blob([[columns.join(","), ...lines, ""].join("\r\n")], { type: "text/csv" }),
  };
}

function toRow(finding: Finding): Readonly<Record<(typeof columns)[number], string>> {
  const rule = findCheck(finding.check);
  const categories = { high: "I", medium: "II", low: "III" } as const;
  return {
    state: stateOf(finding),
    category: categories[finding.severity],
    vuln_id: rule?.vulnId ?? "",
    stig_id: rule?.stigId ?? "",
    check: finding.check,
    controls: rule?.controls.join("; ") ?? "",
    resource_type: finding.resourceType ?? "",
    resource_id: finding.resourceId ?? "",
    resource_name: finding.resourceName,
    expected: finding.expected ?? "",
    actual: finding.actual ?? "",
    detail: finding.detail,
    reason: finding.reason ?? "",
    fingerprint: finding.fingerprint,
  };
}

/** The provider names its resources: a spreadsheet must not take such a name for a formula. */
function toCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
