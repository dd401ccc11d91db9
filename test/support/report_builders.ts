import { gzipSync } from "node:zlib";
import { builtIn, catalog, ruleFields } from "../../scanner/catalog/catalog.ts";
import type { CollectedScan } from "../../scanner/evidence/artifacts_document.ts";
import { reportFormats } from "../../scanner/reports/formats.ts";
import type { RenderOptions } from "../../scanner/reports/report_format.ts";
import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { automatedOf, summarizeChecks, worstVerdict } from "../../shared/rule_result.ts";

/** Builders with defaults, so that a test shows only what matters. */
export function aFinding(changes: Partial<Finding> = {}): Finding {
  const status = changes.status ?? "FAIL";
  return {
    status,
    reason: status === "MANUAL" ? "needs_review" : null,
    resource: { type: "policy", id: "00p1", name: "Default Policy" },
    expected: "15 minutes",
    actual: "120 minutes",
    detail: 'Policy "Default Policy": expected 15 minutes, found 120 minutes',
    fingerprint: `${changes.resource?.id ?? "00p1"}-fingerprint`,
    waived: false,
    waiver: null,
    change: null,
    automated: null,
    advisory: false,
    cause: null,
    ...changes,
  };
}

export function aCheckResult(changes: Partial<CheckResult> = {}): CheckResult {
  const findings = changes.findings ?? [aFinding()];
  return {
    check: "signon_global_session_idle_timeout_15min",
    vuln_id: "V-273186",
    stig_id: "OKTA-APP-000020",
    rule_id: "SV-273186r1098825_rule",
    severity: "medium",
    category: "II",
    title: "Okta must log out a session after a 15-minute period of inactivity.",
    ...worstVerdict(findings),
    detail: findings[0]?.detail ?? "Nothing to examine",
    automated: automatedOf(findings),
    attestation: null,
    findings,
    ...changes,
  };
}

export function aReport(checks: readonly CheckResult[] = [aCheckResult()], changes: Partial<Report> = {}): Report {
  return {
    schema: "scanstream.report/1",
    scan: {
      id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b11",
      tenant_id: "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11",
      org_url: "https://acme.okta.com",
      client_id: "0oa1client",
      engine: "identity",
      started_at: "2026-11-01T10:00:00.000Z",
      ended_at: "2026-11-01T10:00:42.000Z",
      status: "completed",
      requested_scopes: ["okta.policies.read", "okta.apps.read"],
      granted_scopes: ["okta.policies.read"],
      role: "read_only_admin",
      requests: { total: 12, retried: 1, throttled_ms: 0 },
    },
    summary: summarizeChecks(checks),
    checks,
    baseline: null,
    causes: [],
    ...changes,
  };
}

/** Header of saved evidence. */
export function aScan(): CollectedScan {
  const { id: _id, tenant_id: _tenant, status: _status, ...scan } = aReport().scan;
  return { ...scan, role: "super_admin" };
}

/** A policy name as an attacker may choose it. */
export const hostileText = `=HYPERLINK("https://evil.example") <script>alert(1)</script> ]]> | \u0007\u001b[31mred\u202e & "quotes" [link](x) 😀`;

/** A result for every check of the catalog, with every verdict, reason, decision and a hostile name among them. */
export function everyVerdict(): readonly CheckResult[] {
  const reasons = [null, null, "missing_role", "not_applicable", "needs_review", null] as const;
  return catalog.map((check, index) => {
    const reason = reasons[index % reasons.length] ?? null;
    const status = reason !== null ? "MANUAL" : index % 2 === 0 ? "FAIL" : "PASS";
    const resource = { type: "policy", id: `00p${index}`, name: index === 6 ? hostileText : `Policy number ${index}` };
    const isWaived = status === "FAIL" && index === 12;
    const finding = aFinding({
      status,
      reason,
      resource,
      detail: `Policy "${resource.name}": expected one thing, found another`,
      fingerprint: `fingerprint-${index}`,
      waived: isWaived,
      waiver: isWaived ? { reason: "CHG-1234", expires: "2027-01-31" } : null,
    });
    const attestation = { status: "PASS", reason: "Splunk pulls the log", by: "A. Person", expires: null } as const;
    const isAttested = reason === "needs_review";
    return aCheckResult({ ...ruleFields(check), findings: [finding], attestation: isAttested ? attestation : null });
  });
}

/** The report in the format of this name, as `--output` writes it. */
export function renderAs(name: string, report: Report, options: Partial<RenderOptions> = {}): string {
  const format = reportFormats.find((candidate) => candidate.name === name);
  if (format === undefined) throw new Error(`There is no format ${name}`);
  return format.render(report, { color: false, width: 100, toolVersion: "1.2.3", revision: builtIn, ...options });
}

/** The request that stores a report of the scan. */
export function reportUpload(scanId: string, report = aReport()) {
  const body = gzipSync(JSON.stringify({ ...report, scan: { ...report.scan, id: scanId } }));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  return { method: "PUT", body, headers } as const;
}
