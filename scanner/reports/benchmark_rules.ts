import type { Revision, StigRule } from "../catalog/catalog.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { stateOf, type RuleState } from "../../shared/rule_result.ts";
import { checkComments, findingDetails } from "./result_text.ts";

export type RuleOutcome = ReturnType<typeof benchmarkRules>[number];

/** Every rule of the benchmark in its order, with its outcome in this scan; the check is null where it was not selected. */
export function benchmarkRules(report: Report, revision: Revision) {
  const byRule = new Map(report.checks.map((check) => [check.rule_id, check]));
  return revision.checks.map(({ rule }) => {
    const check = byRule.get(rule.rule_id) ?? null;
    const state: RuleState = check === null ? "manual" : stateOf(check);
    const details = check === null ? "" : findingDetails(check, evidenceLine(check));
    return {
      rule,
      check,
      state,
      details,
      comments: check === null ? "Not selected in this scan." : checkComments(check),
    };
  });
}

/** The API calls that the result rests on, each with its time; empty where none was answered. */
export function evidenceLine({ findings }: CheckResult): string {
  const read = findings.find(({ read_from: from }) => from !== undefined)?.read_from;
  return read === undefined ? "" : `Read from ${read}`;
}

/** The rule of a check as DISA wrote it; undefined where the revision has no such rule. */
export function ruleOf(check: CheckResult, revision: Revision): StigRule | undefined {
  return revision.checks.find(({ rule }) => rule.rule_id === check.rule_id)?.rule;
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
