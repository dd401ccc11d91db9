import type { CheckResult, Comparison, Finding, FindingChange, ResolvedFinding } from "../../shared/report.ts";
import { isUnseen, mayBeHidden, type Role } from "../../shared/history/observation.ts";
import { findingStates, isHolding, stateOf } from "../../shared/rule_result.ts";
import { parseReport } from "../reports/read_report.ts";

/** An earlier report, as far as a comparison needs it. */
export type Baseline = ReturnType<typeof parseBaseline>;

/** Throws `ContentError` naming what is wrong with the report. */
export function parseBaseline(content: string) {
  const { scan, checks } = parseReport(content);
  const findings = checks.flatMap((result) => {
    const rankOf = ranksOf(result);
    return result.findings.map((finding) => ({ ...finding, check: result.check, rank: rankOf(finding) }));
  });
  const keyed = findings.map((finding) => [key(finding.check, finding.fingerprint), finding] as const);
  return { scanId: scan.id, orgUrl: scan.org_url, endedAt: scan.ended_at, findings: new Map(keyed) };
}

/**
 * The results with each finding marked against the baseline.
 *
 * `new`: not there before, or worse than before; `unchanged`: open (or fine) as before; `resolved`: open before, holding
 * now. An open finding whose resource is gone is counted only when the check reached a verdict, and the role of this scan sees every
 * app where it is one: an outage resolves nothing, and neither does a role.
 */
export function compareWithBaseline(
  results: readonly CheckResult[],
  { baseline, role }: { readonly baseline: Baseline; readonly role: Role },
): { readonly results: readonly CheckResult[]; readonly comparison: Comparison } {
  const marked = results.map((result) => {
    const rankOf = ranksOf(result);
    const findings = result.findings.map((finding) => {
      const before = baseline.findings.get(key(result.check, finding.fingerprint));
      const rank = rankOf(finding);
      // The end of the first scan that had it open, as far as that is known.
      const first = before?.detected_first ?? (before?.rank === failing ? baseline.endedAt : undefined);
      const detected = first === undefined || rank === 0 ? {} : { detected_first: first };
      return { ...finding, change: changeOf(rank, before?.rank ?? -1), ...detected };
    });
    return { ...result, findings };
  });
  const gone = goneFindings(results, baseline).filter(({ resource }) => !mayBeHidden(resource, role));
  const count = (change: FindingChange) =>
    marked.flatMap((result) => result.findings).filter((finding) => finding.change === change).length;
  const resolved = count("resolved") + gone.length;
  return {
    results: marked,
    comparison: { scan_id: baseline.scanId, new: count("new"), unchanged: count("unchanged"), resolved, gone },
  };
}

function changeOf(rank: number, before: number): FindingChange {
  if (rank > before) return "new";
  return rank === 0 && before > 0 ? "resolved" : "unchanged";
}

const failing = 2;

/** How bad each finding of a check is: 0 where nothing speaks against it. */
function ranksOf(check: CheckResult): (finding: Finding) => number {
  const stateIn = findingStates(check);
  return (finding) => {
    const state = stateIn(finding);
    if (state === "fail") return failing;
    return state === "manual" && !isHolding(finding) ? 1 : 0;
  };
}

function goneFindings(results: readonly CheckResult[], baseline: Baseline): readonly ResolvedFinding[] {
  const present = new Set(results.flatMap(({ check, findings }) => findings.map((one) => key(check, one.fingerprint))));
  const isDecided = (result: CheckResult) =>
    stateOf(result) !== "manual" ||
    (isHolding(result) && !result.findings.some((finding) => isUnseen(finding.resource.type, finding)));
  const decided = new Set(results.filter(isDecided).map(({ check }) => check));
  return [...baseline.findings]
    .filter(([id, before]) => before.rank > 0 && decided.has(before.check) && !present.has(id))
    .map(([, { check, resource, fingerprint }]) => ({ check, resource, fingerprint }));
}

function key(check: string, fingerprint: string): string {
  return `${check}\n${fingerprint}`;
}
