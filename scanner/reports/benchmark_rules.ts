import type { Revision, StigRule } from "../catalog/catalog.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { stateOf, type RuleState } from "../../shared/rule_result.ts";
import { checkComments, findingDetails } from "./result_text.ts";

/** One rule of the benchmark with its outcome in this scan. */
export interface RuleOutcome {
  readonly rule: StigRule;
  /** Null: the check was not selected. */
  readonly check: CheckResult | null;
  readonly state: RuleState;
  readonly details: string;
  readonly comments: string;
}

/** Every rule of the benchmark, in its order: a checklist always has all of them. */
export function benchmarkRules(report: Report, revision: Revision): readonly RuleOutcome[] {
  const byRule = new Map(report.checks.map((check) => [check.rule_id, check]));
  return revision.checks.map(({ rule }) => {
    const check = byRule.get(rule.rule_id) ?? null;
    if (check === null) {
      return { rule, check, state: "manual", details: "", comments: "Not selected in this scan." };
    }
    return {
      rule,
      check,
      state: stateOf(check),
      details: findingDetails(check, evidenceLine(check, report, revision)),
      comments: checkComments(check),
    };
  });
}

/** Which API calls the result rests on, and when they were made; empty where nothing was read. */
export function evidenceLine(check: CheckResult, { scan }: Report, revision: Revision): string {
  const fields = checkOf(check, revision)?.explanation.deciding_fields ?? [];
  if (fields.length === 0 || check.reason === "interrupted") return "";
  const read = check.findings.find(({ read_from: from }) => from !== undefined)?.read_from;
  if (read !== undefined) return `Read from ${read}`;
  const calls = [...new Set(fields.map(({ request }) => request))];
  return `Read from ${scan.started_at} to ${scan.ended_at}: ${calls.join("; ")}`;
}

function checkOf(check: CheckResult, { checks }: Revision) {
  return checks.find(({ rule }) => rule.rule_id === check.rule_id);
}

/** The rule of a check as DISA wrote it; undefined where the revision has no such rule. */
export function ruleOf(check: CheckResult, revision: Revision): StigRule | undefined {
  return checkOf(check, revision)?.rule;
}

/** `V-273186, V-273187`. */
export function idsOf(checks: readonly Pick<CheckResult, "vuln_id">[]): string {
  return checks.map(({ vuln_id: vulnId }) => vulnId).join(", ");
}

/** DISA's category: `CAT II`. */
export function levelOf({ category }: Pick<CheckResult, "category">): string {
  return `CAT ${category}`;
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
