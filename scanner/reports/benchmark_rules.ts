import { isIP } from "node:net";
import { benchmark, catalog, type StigRule } from "../catalog/catalog.ts";
import { revisionOf } from "../checklists/checklist.ts";
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
export function benchmarkRules(report: Report): readonly RuleOutcome[] {
  const byRule = new Map(report.checks.map((check) => [check.rule_id, check]));
  return catalog.map(({ rule }) => {
    const check = byRule.get(rule.rule_id) ?? null;
    if (check === null) {
      return { rule, check, disposition: "not_reviewed", details: "", comments: "Not selected in this scan." };
    }
    return {
      rule,
      check,
      disposition: dispositionOf(check),
      details: findingDetails(check),
      comments: checkComments(check),
    };
  });
}

export const benchmarkVersion = revisionOf(benchmark.version, benchmark.release_info);

/** The org's host name, without a port: what a checklist calls the asset. */
export function hostOf(report: Report): string {
  const { org_url: orgUrl } = report.scan;
  return URL.canParse(orgUrl) ? new URL(orgUrl).hostname.replace(/^\[(.*)\]$/, "$1") : orgUrl;
}

/** The host where readers of checklists take it for a full name or an address; else empty, as they refuse the rest. */
export function fullNameOf(host: string): string {
  return isIP(host) > 0 || /^[\w-]+(\.[\w-]+)+$/.test(host) ? host : "";
}
