import { manualReasonSchema } from "./schemas/finding.ts";
import type { Attestation, CheckResult, Finding, ManualReason, Report, Status, StatusCounts } from "./report.ts";

/**
 * The result of a rule, for everybody who shows or counts one: screens, pages, gates and files. It follows from the rule's
 * findings and from what a person attested or answered in a checklist, which a `CheckResult` holds together. A waiver, and an
 * own limit that is looser than the STIG's, leave a FAIL as it is.
 */

/** The four states that people count: a status, with "not applicable" apart from what needs manual review. */
export type RuleState = keyof StatusCounts;

export const ruleStates: readonly RuleState[] = ["fail", "manual", "pass", "not_applicable"];

export interface Verdict {
  readonly status: Status;
  readonly reason?: ManualReason | null;
  /** An attestation decides what the evidence leaves open; it never takes back a FAIL. */
  readonly attestation?: Pick<Attestation, "status"> | null;
}

const statesOfStatuses = { PASS: "pass", FAIL: "fail", MANUAL: "manual", NOT_APPLICABLE: "not_applicable" } as const;

/** The state of a rule, of a finding, or of a control. */
export function stateOf({ status, reason, attestation }: Verdict): RuleState {
  if (status !== "FAIL" && attestation) return statesOfStatuses[attestation.status];
  return status === "MANUAL" && reason === "not_applicable" ? "not_applicable" : statesOfStatuses[status];
}

export function countStates(verdicts: readonly Verdict[]): StatusCounts {
  const counts = { pass: 0, fail: 0, manual: 0, not_applicable: 0 };
  for (const verdict of verdicts) counts[stateOf(verdict)] += 1;
  return counts;
}

/** Nothing speaks against it: it passes, or what was automated does, or it does not apply. To lose this is a change for the worse. */
export function isHolding({ status, reason }: Verdict): boolean {
  return status === "PASS" || reason === "partly_automated" || reason === "not_applicable";
}

/** The verdict of a rule by its `countedFindings`: FAIL if one fails; else MANUAL if one needs a person; else PASS. */
export function worstVerdict(findings: readonly Pick<Verdict, "status" | "reason">[]) {
  const statuses = new Set(findings.map((finding) => finding.status));
  const status: Status = statuses.has("FAIL") ? "FAIL" : statuses.has("MANUAL") ? "MANUAL" : "PASS";
  const reasons = new Set(findings.map(({ reason }) => reason));
  const first = manualReasonSchema.options.find((reason) => reasons.has(reason)) ?? null;
  return { status, reason: status === "MANUAL" ? first : null };
}

/** `PASS` where each finding that needs a person passed as far as it is automated. */
export function automatedOf(findings: readonly Pick<Finding, "status" | "automated">[]): "PASS" | null {
  const open = findings.filter(({ status }) => status !== "PASS");
  return open.length > 0 && open.every(({ automated }) => automated === "PASS") ? "PASS" : null;
}

/** True where everything of it that fails is waived. */
export function isWaived(check: Parameters<typeof failuresOf>[0]): boolean {
  const failing = failuresOf(check);
  return failing.length > 0 && failing.every(({ waived }) => waived);
}

/** The `summary` of a report of these checks. */
export function summarizeChecks(checks: readonly CheckResult[]): Report["summary"] {
  const isManual = (check: CheckResult) => stateOf(check) === "manual";
  return {
    ...countStates(checks),
    automated: checks.filter((check) => isManual(check) && check.automated === "PASS").length,
    attested: checks.filter(({ attestation }) => attestation !== null).length,
    waived: checks.filter(isWaived).length,
  };
}

/** The findings that count for a rule: advisory ones only where there are no others. */
export function countedFindings<Own extends Pick<Finding, "advisory">>(findings: readonly Own[]): readonly Own[] {
  const counted = findings.filter(({ advisory }) => !advisory);
  return counted.length > 0 ? counted : findings;
}

/** The findings that decide a rule: those of its worst status, and where it does not apply, all. */
export function decidingFindings<Own extends Pick<Finding, "status" | "advisory">>(
  findings: readonly Own[],
): readonly Own[] {
  const counted = countedFindings(findings);
  const { status: worst } = worstVerdict(counted);
  return counted.filter(({ status }) => status === worst);
}

/** The findings that make a rule fail; where only a person found a failure, the first that the scan left open stands for it. */
export function failuresOf<Own extends Pick<Finding, "status" | "advisory" | "waived">>({
  status,
  attestation,
  findings,
}: Verdict & { readonly findings: readonly Own[] }): readonly Own[] {
  const deciding = decidingFindings(findings);
  if (status === "FAIL") return deciding;
  if (attestation?.status !== "FAIL") return [];
  return deciding.toSorted((one, other) => Number(one.waived) - Number(other.waived)).slice(0, 1);
}

/** The state of each finding of a check: an attestation decides what the scan left open. */
export function findingStates(check: CheckResult): (finding: Finding) => RuleState {
  const failing = new Set(failuresOf(check));
  const isDecided = check.status !== "FAIL" && check.attestation?.status !== "FAIL";
  return (finding) => {
    if (failing.has(finding)) return "fail";
    return stateOf({ ...finding, attestation: isDecided && !finding.advisory ? check.attestation : null });
  };
}

/** The open findings of a check: each that fails or needs manual review. */
export function openFindings(check: CheckResult): readonly Finding[] {
  const stateIn = findingStates(check);
  return check.findings.filter((finding) => {
    const state = stateIn(finding);
    return state === "fail" || (state === "manual" && !finding.advisory);
  });
}
