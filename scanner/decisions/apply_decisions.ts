import { isExpired } from "../../shared/decisions/expiry.ts";
import { createDecisionFinder, type ResourceDecision } from "../../shared/decisions/decision_finder.ts";
import type { Attestation, CheckResult, Finding, Plan, Waiver } from "../../shared/report.ts";
import { withChecklistAnswers, type Answers } from "../checklists/checklist.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { stateOf } from "../../shared/rule_result.ts";
import type { Baseline } from "./baseline.ts";

/** A finding that a person accepts: it keeps its status and is shown, but does not fail the run. With a remediation date it is a plan, too. */
export interface WaiverEntry
  extends Omit<Waiver, "expires">, ResourceDecision, Partial<Pick<Plan, "remediation_date" | "milestones">> {
  /** Null: never. Absent: a plan, and not a waiver: the finding still fails. */
  readonly expires?: string | null;
}

/** A person's attestation of a check that the API cannot decide, or decides only in part. */
export interface AttestationEntry extends Attestation {
  readonly check: string;
}

/** Read and checked before a scan starts. */
export interface Decisions {
  readonly waivers: readonly WaiverEntry[];
  readonly attestations: readonly AttestationEntry[];
  readonly baseline: Baseline | null;
}

interface Decided {
  readonly results: readonly CheckResult[];
  /** A line for each decision that was ignored. */
  readonly warnings: readonly string[];
}

/** The results with waivers, attestations, a checklist's answers and plans on them; no status changes. */
export function applyDecisions(
  results: readonly CheckResult[],
  { waivers, attestations }: Omit<Decisions, "baseline">,
  nowMs: number,
  checklist: Answers = null,
): Decided {
  const waived = applyWaivers(results, waivers, nowMs);
  const attested = applyAttestations(waived.results, attestations, nowMs);
  const planned = applyPlans(withChecklistAnswers(attested.results, checklist), waivers, nowMs);
  return { results: planned, warnings: [...waived.warnings, ...attested.warnings] };
}

/** The results with their waived findings marked. */
export function applyWaivers(results: readonly CheckResult[], entries: readonly WaiverEntry[], nowMs: number): Decided {
  const waivers = entries.filter(({ expires }) => expires !== undefined);
  const inForce = new Set(waivers.filter((waiver) => isWaiverInForce(waiver, nowMs)));
  const used = new Set<WaiverEntry>();
  const { find, isExhausted } = createDecisionFinder([...inForce]);
  const waived = mapFindings(results, (finding, { check }) => {
    const isReached = finding.reason !== "interrupted";
    const isOpen = isReached && !finding.waived && ["fail", "manual"].includes(stateOf(finding));
    const waiver = isOpen ? find(check, finding.resource) : undefined;
    if (waiver === undefined) return finding;
    used.add(waiver);
    const { reason, expires = null, by, source } = waiver;
    const author = { ...(by === undefined ? {} : { by }), ...(source === undefined ? {} : { source }) };
    return { ...finding, waived: true, waiver: { reason, expires, ...author } };
  });
  const reached = new Set(results.flatMap(({ check, reason }) => (reason === "interrupted" ? [] : [check])));
  const warnings = waivers.flatMap((waiver) => {
    const { check, resource, by = "?", source, expires } = waiver;
    const place = source === "gateway" ? ` by ${by} at the gateway` : "";
    const name = `The waiver of ${vulnIdOf(check)}${resource === null ? "" : ` for ${JSON.stringify(resource)}`}${place}`;
    if (!inForce.has(waiver)) return [`${name} expired on ${expires} and is ignored`];
    return used.has(waiver) || !reached.has(check) ? [] : [`${name} matches no open finding, or only waived ones`];
  });
  const slow =
    "The patterns of the decisions take too long on these names: what only a later pattern names is not waived";
  return { results: waived, warnings: isExhausted() ? [...warnings, slow] : warnings };
}

/**
 * The results with the attestations next to them; a status never changes. A proven FAIL is not attested away (a
 * waiver does that openly), so an attestation of PASS on it is reported as ignored.
 */
export function applyAttestations(
  results: readonly CheckResult[],
  attestations: readonly AttestationEntry[],
  nowMs: number,
): Decided {
  const warnings: string[] = [];
  const byCheck = new Map<string, Attestation>();
  for (const { check, ...attestation } of attestations) {
    const result = results.find((candidate) => candidate.check === check);
    const name = `The attestation of ${vulnIdOf(check)}`;
    if (isExpired(attestation.expires, nowMs))
      warnings.push(`${name} expired on ${attestation.expires} and is ignored`);
    else if (result?.status === "FAIL" && attestation.status !== "FAIL")
      warnings.push(`${name} is ignored: the scan found a FAIL, which only a waiver accepts`);
    else if (result?.reason !== "interrupted") {
      const before = byCheck.get(check);
      if (before) warnings.push(`${name} as ${before.status} is ignored: a later one says ${attestation.status}`);
      byCheck.set(check, attestation);
    }
  }
  return { results: results.map((one) => ({ ...one, attestation: byCheck.get(one.check) ?? null })), warnings };
}

/** The results with the plan of each finding that fails; a plan changes no status, waives nothing and never ends. */
function applyPlans(
  results: readonly CheckResult[],
  entries: readonly WaiverEntry[],
  nowMs: number,
): readonly CheckResult[] {
  const { find } = createDecisionFinder(entries.filter((entry) => entry.remediation_date !== undefined));
  return mapFindings(results, (finding, { check, attestation }) => {
    const isFailing = finding.status === "FAIL" || (finding.status === "MANUAL" && attestation?.status === "FAIL");
    const entry = isFailing ? find(check, finding.resource) : undefined;
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

/** True when it waives something then; a plan does not. */
export function isWaiverInForce({ expires }: WaiverEntry, nowMs: number): boolean {
  return expires !== undefined && !isExpired(expires, nowMs);
}
