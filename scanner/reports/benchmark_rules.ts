import { revisionName, type Revision, type StigRule } from "../catalog/catalog.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { checkComments, dispositionOf, findingDetails, type Disposition } from "./disposition.ts";

/** One rule of the benchmark with its outcome in this scan. */
export interface RuleOutcome {
  readonly rule: StigRule;
  /** Null: the check was not selected. */
  readonly check: CheckResult | null;
  readonly disposition: Disposition;
  readonly details: string;
  readonly comments: string;
}

/** Every rule of the benchmark, in its order: a checklist always has all of them. */
export function benchmarkRules(report: Report, revision: Revision): readonly RuleOutcome[] {
  const byRule = new Map(report.checks.map((check) => [check.rule_id, check]));
  return revision.checks.map(({ rule }) => {
    const check = byRule.get(rule.rule_id) ?? null;
    if (check === null) {
      return { rule, check, disposition: "not_reviewed", details: "", comments: "Not selected in this scan." };
    }
    return {
      rule,
      check,
      disposition: dispositionOf(check),
      details: findingDetails(check, evidenceLine(check, report, revision)),
      comments: checkComments(check),
    };
  });
}

/** Those of the benchmark, and after them the organization's own that were evaluated; no checklist holds the latter. */
export function allRules(report: Report, revision: Revision): readonly RuleOutcome[] {
  const own = report.checks.filter(isCompanyRule).map((check) => ({
    rule: ruleOf(check, revision),
    check,
    disposition: dispositionOf(check),
    details: findingDetails(check),
    comments: checkComments(check),
  }));
  return [...benchmarkRules(report, revision), ...own];
}

/** Which API calls the result rests on, and when they were made; empty for a rule of a company, and where nothing was read. */
export function evidenceLine(check: CheckResult, { scan }: Report, revision: Revision): string {
  const fields = checkOf(check, revision)?.explanation.deciding_fields ?? [];
  if (fields.length === 0 || check.reason === "interrupted") return "";
  const read = check.findings.find(({ read_from: from }) => from !== undefined)?.read_from;
  if (read !== undefined) return `Read from ${read}`;
  const calls = [...new Set(fields.map((field) => field.split(": ", 1)[0] ?? field))];
  return `Read from ${scan.started_at} to ${scan.ended_at}: ${calls.join("; ")}`;
}

export function isCompanyRule({ origin }: CheckResult): boolean {
  return origin === "company";
}

function checkOf(check: CheckResult, { checks }: Revision) {
  return isCompanyRule(check) ? undefined : checks.find(({ rule }) => rule.rule_id === check.rule_id);
}

/** The rule of a check: as DISA wrote it, or as far as the report tells of the organization's own. */
export function ruleOf(check: CheckResult, revision: Revision): StigRule {
  return checkOf(check, revision)?.rule ?? ruleOfReport(check);
}

function ruleOfReport(check: CheckResult): StigRule {
  const { vuln_id, stig_id, rule_id, severity, category, title, coverage, remediation = "" } = check;
  const expected = check.findings[0]?.expected ?? title;
  return {
    check: check.check,
    vuln_id,
    stig_id,
    rule_id,
    severity,
    category,
    title,
    coverage,
    group_title: "",
    satisfies: [],
    ccis: [],
    nist_800_53_r5: [],
    scopes: [],
    role: "read_only_admin",
    discussion: title,
    check_text: expected,
    fix_text: remediation,
  };
}

/** What the rule is of, in words. */
export function standardOf(check: CheckResult, { benchmark }: Revision): string {
  return isCompanyRule(check) ? "Rules of the organization" : `DISA Okta IDaaS STIG ${revisionName(benchmark)}`;
}

/** DISA's category; only the severity of a rule that is not DISA's. */
export function levelOf(
  check: Pick<CheckResult, "category" | "severity"> & { readonly origin?: string | undefined },
): string {
  return check.origin === "company" ? check.severity : `CAT ${check.category}`;
}

/** The org's host name, without a port: what a checklist calls the asset. */
export function hostOf(report: Report): string {
  const { org_url: orgUrl } = report.scan;
  return URL.canParse(orgUrl) ? new URL(orgUrl).hostname.replace(/^\[(.*)\]$/, "$1") : orgUrl;
}

/** The organization as reports name it: the host, with a port that is not the default, since two orgs may share a host. */
export function orgNameOf(report: Report): string {
  return siteOf(report) || hostOf(report);
}

/** Host and port where the org has one that is not the default; else empty. Checklists have a field for it. */
export function siteOf({ scan }: Report): string {
  const url = URL.parse(scan.org_url);
  return url === null || url.port === "" ? "" : url.host;
}
