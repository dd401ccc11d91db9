import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { findingStates, type RuleState } from "../../shared/rule_result.ts";
import { findingDecisions, ruleDecisions } from "./result_text.ts";
import { revisionName } from "../catalog/catalog.ts";
import { ruleOf, toJson, type RenderOptions } from "./report_format.ts";

const statuses = {
  pass: { status: "Pass", status_id: 1 },
  fail: { status: "Fail", status_id: 3 },
  manual: { status: "Manual", status_id: 99 },
  not_applicable: { status: "Not Applicable", status_id: 99 },
} as const;

/** The schema's own text: CAT I is Critical, CAT II High, CAT III Medium. */
const checkSeverities = {
  I: { severity: "Critical", severity_id: 5 },
  II: { severity: "High", severity_id: 4 },
  III: { severity: "Medium", severity_id: 3 },
} as const;

const informational = { severity: "Informational", severity_id: 1 } as const;

/** OCSF 1.8.0 Compliance Findings (class 2003), a list of one for each finding, for SIEMs and security lakes. */
export function renderOcsf(report: Report, options: RenderOptions): string {
  return toJson(
    report.checks.flatMap((check) => {
      const stateIn = findingStates(check);
      return check.findings.map((finding) => toEvent(check, finding, { ...options, report, state: stateIn(finding) }));
    }),
  );
}

function toEvent(
  check: CheckResult,
  finding: Finding,
  { report, state, toolVersion, revision }: RenderOptions & { readonly report: Report; readonly state: RuleState },
): object {
  const { scan } = report;
  const { resource, expected, actual, automated, advisory } = finding;
  const rule = ruleOf(check, revision);
  const time = Date.parse(scan.ended_at);
  const { status, status_id } = statuses[state];
  const severity = ["pass", "not_applicable"].includes(state) ? informational : checkSeverities[check.category];
  const decisions = findingDecisions(finding);
  const version = revisionName(revision.benchmark);
  const standards = [`DISA Okta IDaaS STIG ${version}`];
  const ofRule = { desc: check.title, version, standards, status, status_id };
  const activity_id = finding.change === "resolved" ? 3 : finding.change === "unchanged" ? 2 : 1;
  return {
    category_uid: 2,
    category_name: "Findings",
    class_uid: 2003,
    class_name: "Compliance Finding",
    activity_id,
    activity_name: ["Create", "Update", "Close"][activity_id - 1],
    type_uid: 200_300 + activity_id,
    time,
    start_time: Date.parse(scan.started_at),
    end_time: time,
    ...severity,
    message: finding.detail,
    ...triageOf(finding),
    ...(decisions.length > 0 && { comment: decisions.join("; ") }),
    metadata: {
      version: "1.8.0",
      product: { name: "scanstream", vendor_name: "scanstream", version: toolVersion },
      uid: `${scan.id}/${finding.fingerprint}`,
      correlation_uid: scan.id,
      ...(scan.tenant_id === null ? {} : { tenant_uid: scan.tenant_id }),
    },
    finding_info: {
      uid: finding.fingerprint,
      title: check.title,
      desc: finding.detail,
      types: [check.check],
      created_time: time,
    },
    compliance: {
      control: check.stig_id,
      standards,
      requirements: [check.rule_id, ...(rule?.ccis ?? [])],
      status,
      status_id,
      ...(finding.reason === null ? {} : { status_code: finding.reason }),
      status_details: [finding.detail, ...ruleDecisions(check)],
      desc: check.title,
      checks: [{ uid: check.vuln_id, name: check.check, ...ofRule, ...checkSeverities[check.category] }],
    },
    ...(rule === undefined ? {} : { remediation: { desc: rule.fix_text } }),
    resources: [{ uid: resource.id, name: resource.name, type: resource.type, namespace: scan.org_url }],
    unmapped: { expected, actual, automated, advisory },
  };
}

/** Not the verdict: a waived finding is suppressed, a resolved one resolved. */
function triageOf({ waived, change }: Finding): object {
  if (waived) return { status_id: 3, status: "Suppressed" };
  return change === "resolved" ? { status_id: 4, status: "Resolved" } : { status_id: 1, status: "New" };
}
