import type { CheckResult, Finding, Plan, Waiver } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import type { StepBudget } from "../../shared/decisions/name_pattern.ts";
import {
  createBudget,
  createResourceIndex,
  findDecision,
  type ResourceDecision,
  type ResourceIndex,
} from "../../shared/decisions/resource_index.ts";

/** A finding that a person accepts: it keeps its status and is shown, but does not fail the run. */
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
  const byCheck = Map.groupBy(inForce, (waiver) => waiver.check);
  const used = new Set<WaiverEntry>();
  const budget = createBudget();
  const waived = results.map((result) => {
    const candidates = byCheck.get(result.check);
    if (candidates === undefined) return result;
    const index = createResourceIndex(candidates);
    return { ...result, findings: result.findings.map((finding) => waive(finding, { index, used, budget })) };
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

/** True when it waives something then; a plan does not. */
export function isWaiverInForce({ expires }: WaiverEntry, nowMs: number): boolean {
  return expires !== undefined && !isExpired(expires, nowMs);
}

interface WaiveOptions {
  readonly index: ResourceIndex<WaiverEntry>;
  readonly used: Set<WaiverEntry>;
  readonly budget: StepBudget;
}

function waive(finding: Finding, { index, used, budget }: WaiveOptions): Finding {
  const state = stateOf(finding);
  if (finding.waived || state === "pass" || state === "not_applicable") return finding;
  const waiver = findDecision(finding.resource, index, budget);
  if (waiver === undefined) return finding;
  used.add(waiver);
  const { reason, expires = null, by, source } = waiver;
  const author = { ...(by === undefined ? {} : { by }), ...(source === undefined ? {} : { source }) };
  return { ...finding, waived: true, waiver: { reason, expires, ...author } };
}

function describe(waiver: WaiverEntry): string {
  const place = waiver.source === "gateway" ? ` by ${waiver.by ?? "?"} at the gateway` : "";
  return `The waiver of ${vulnIdOf(waiver.check)}${waiver.resource === null ? "" : ` for ${JSON.stringify(waiver.resource)}`}${place}`;
}
