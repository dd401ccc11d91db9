import { isExpired } from "../../shared/decisions/expiry.ts";
import {
  createBudget,
  createResourceIndex,
  findDecision,
  type ResourceDecision,
} from "../../shared/decisions/resource_index.ts";
import type { CheckResult, Finding, Plan, Waiver } from "../../shared/report.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { stateOf } from "../../shared/rule_result.ts";

/** A finding that a person accepts: it keeps its status and is shown, but does not fail the run. With a remediation date it is a plan, too. */
export interface WaiverEntry
  extends Omit<Waiver, "expires">, ResourceDecision, Partial<Pick<Plan, "remediation_date" | "milestones">> {
  /** Null: never. Absent: a plan, and not a waiver: the finding still fails. */
  readonly expires?: string | null;
}

/** The results with their waived findings marked, and a line for each waiver that was ignored or matched nothing. */
export function applyWaivers(
  results: readonly CheckResult[],
  entries: readonly WaiverEntry[],
  nowMs: number,
): { readonly results: readonly CheckResult[]; readonly warnings: readonly string[] } {
  const waivers = entries.filter(({ expires }) => expires !== undefined);
  const inForce = new Set(waivers.filter((waiver) => isWaiverInForce(waiver, nowMs)));
  const used = new Set<WaiverEntry>();
  const { find, budget } = createFinder([...inForce]);
  const waived = mapFindings(results, (finding, { check }) => {
    const isOpen = !finding.waived && ["fail", "manual"].includes(stateOf(finding));
    const waiver = isOpen ? find(check, finding) : undefined;
    if (waiver === undefined) return finding;
    used.add(waiver);
    const { reason, expires = null, by, source } = waiver;
    const author = { ...(by === undefined ? {} : { by }), ...(source === undefined ? {} : { source }) };
    return { ...finding, waived: true, waiver: { reason, expires, ...author } };
  });
  const selected = new Set(results.map((result) => result.check));
  const warnings = waivers.flatMap((waiver) => {
    if (!inForce.has(waiver)) return [`${describe(waiver)} expired on ${waiver.expires} and is ignored`];
    return used.has(waiver) || !selected.has(waiver.check) ? [] : [`${describe(waiver)} matches no open finding`];
  });
  if (budget.left === 0) {
    warnings.push(
      "The patterns of the decisions take too long on these names: findings that were not reached are not waived",
    );
  }
  return { results: waived, warnings };
}

/** The results with the plan of each finding that fails; a plan changes no status, waives nothing and never ends. */
export function applyPlans(
  results: readonly CheckResult[],
  entries: readonly WaiverEntry[],
  nowMs: number,
): readonly CheckResult[] {
  const { find } = createFinder(entries.filter((entry) => entry.remediation_date !== undefined));
  return mapFindings(results, (finding, { check, attestation }) => {
    const isFailing = finding.status === "FAIL" || (finding.status === "MANUAL" && attestation?.status === "FAIL");
    const entry = isFailing ? find(check, finding) : undefined;
    if (entry?.remediation_date === undefined) return finding;
    const { remediation_date, milestones = [], reason } = entry;
    const overdue = !finding.waived && isExpired(remediation_date, nowMs);
    return { ...finding, plan: { remediation_date, milestones, reason, overdue } };
  });
}

function mapFindings(
  results: readonly CheckResult[],
  change: (finding: Finding, result: CheckResult) => Finding,
): readonly CheckResult[] {
  return results.map((result) => ({ ...result, findings: result.findings.map((one) => change(one, result)) }));
}

/** Finds the first entry that matches a finding of a check. */
function createFinder(entries: readonly WaiverEntry[]) {
  const byCheck = [...Map.groupBy(entries, (entry) => entry.check)];
  const indexes = new Map(byCheck.map(([check, own]) => [check, createResourceIndex(own)]));
  const budget = createBudget();
  const find = (check: string, { resource }: Finding) => {
    const index = indexes.get(check);
    return index && findDecision(resource, index, budget);
  };
  return { find, budget };
}

/** True when it waives something then; a plan does not. */
export function isWaiverInForce({ expires }: WaiverEntry, nowMs: number): boolean {
  return expires !== undefined && !isExpired(expires, nowMs);
}

function describe(waiver: WaiverEntry): string {
  const place = waiver.source === "gateway" ? ` by ${waiver.by ?? "?"} at the gateway` : "";
  return `The waiver of ${vulnIdOf(waiver.check)}${waiver.resource === null ? "" : ` for ${JSON.stringify(waiver.resource)}`}${place}`;
}
