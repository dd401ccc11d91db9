import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { benchmark, catalog, type StigRule } from "../catalog/catalog.ts";
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

/** `Release: 2 Benchmark Date: …` as `V1R2`, and as the number of the release. */
const benchmarkRelease = /Release:\s*(\d+)/.exec(benchmark.release_info)?.[1] ?? "1";
export const benchmarkVersion = `V${benchmark.version}R${benchmarkRelease}`;

/** The same parts give the same UUID, so that a report of the same scan is the same file. */
export function stableUuid(...parts: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  // Version 8: a UUID of one's own making (RFC 9562, section 5.8).
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The org's host name, without a port: what a checklist calls the asset. */
export function hostOf(report: Report): string {
  const { org_url: orgUrl } = report.scan;
  return URL.canParse(orgUrl) ? new URL(orgUrl).hostname.replace(/^\[(.*)\]$/, "$1") : orgUrl;
}

/** The host where readers of checklists take it for a full name or an address; else empty, as they refuse the rest. */
export function fullNameOf(host: string): string {
  return isIP(host) > 0 || /^[\w-]+(\.[\w-]+)+$/.test(host) ? host : "";
}
