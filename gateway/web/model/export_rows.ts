import type { Decision } from "../../../shared/schemas/decision.ts";
import { stateOf, type Severity } from "../../../shared/report.ts";
import { findCheck } from "./check_catalog.ts";
import type { Finding } from "./scan_model.ts";

/** A line of a list that the page shows, as a file for other programs has it. All rows of a list have the same columns. */
export type ExportedRow = Readonly<Record<string, string>>;

/** What the JSON says about the whole list. */
type Facts = Readonly<Record<string, string | null>>;

export interface ExportedFile {
  readonly name: string;
  readonly file: Blob;
}

/** `name` is of the file, and of the list in it. */
export function toJsonFile(name: string, rows: readonly ExportedRow[], facts: Facts): ExportedFile {
  const text = JSON.stringify({ ...facts, [name]: rows }, null, 2);
  return { name: `${name}.json`, file: new Blob([text, "\n"], { type: "application/json" }) };
}

export function toCsvFile(name: string, rows: readonly ExportedRow[]): ExportedFile {
  const columns = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => columns.map((column) => toCell(row[column] ?? "")).join(","));
  return {
    name: `${name}.csv`,
    file: new Blob([[columns.join(","), ...lines, ""].join("\r\n")], { type: "text/csv" }),
  };
}

export function toFindingRow(finding: Finding): ExportedRow {
  return {
    state: stateOf(finding),
    category: categories[finding.severity],
    ...ruleOf(finding.check),
    resource_type: finding.resource_type ?? "",
    resource_id: finding.resource_id ?? "",
    resource_name: finding.resource_name,
    expected: finding.expected ?? "",
    actual: finding.actual ?? "",
    detail: finding.detail,
    reason: finding.reason ?? "",
    read_from: finding.read_from ?? "",
    fingerprint: finding.fingerprint,
  };
}

export function toDecisionRow(decision: Decision): ExportedRow {
  const { id, kind, check, resource, status, reason, by, expires, org_url, state } = decision;
  return {
    kind,
    state,
    ...ruleOf(check),
    org_url: org_url ?? "",
    resource: resource ?? "",
    status: status ?? "",
    reason,
    by,
    created_at: decision.created_at,
    expires: expires ?? "",
    ended_at: decision.ended_at ?? "",
    ended_by: decision.ended_by ?? "",
    ended_scan_id: decision.ended_scan_id ?? "",
    id,
  };
}

const categories: Readonly<Record<Severity, string>> = { high: "I", medium: "II", low: "III" };

function ruleOf(check: string): ExportedRow {
  const rule = findCheck(check);
  return {
    vuln_id: rule?.vulnId ?? "",
    stig_id: rule?.stigId ?? "",
    check,
    controls: rule?.controls.join("; ") ?? "",
  };
}

/** The provider names its resources: a spreadsheet must not take such a name for a formula. */
function toCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
