import { isExpired } from "../../../../shared/decisions/expiry.ts";
import { createDecisionFinder } from "../../../../shared/decisions/decision_finder.ts";
import type { Decision } from "../../../../shared/schemas/decision.ts";
import type { FindingAttestation, FindingWaiver } from "../../../../shared/schemas/finding.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import type { Finding } from "../finding.ts";

/** Fields by which a decision is found. */
export type DecidedFinding = Pick<Finding, "check" | "status" | "resource_id" | "resource_name">;

/** A decision that the gateway keeps, or that the run of a finding had. */
export interface KnownDecision extends Pick<Decision, "kind" | "status" | "reason" | "expires"> {
  /** Absent: the run had it in a file, a checklist or as its own limits. */
  readonly id?: string;
  /** Null: nobody is named. */
  readonly by: string | null;
}

/** The decisions about the findings of one organization: of their runs, else as the next scan with `--decisions-from-gateway` applies them. */
export interface DecisionIndex {
  readonly waiverOf: (finding: DecidedFinding & FindingWaiver) => KnownDecision | null;
  /** Its waiver, else the attestation of its check; a failure is not attested away. */
  readonly ofFinding: (finding: DecidedFinding & FindingWaiver & FindingAttestation) => KnownDecision | null;
  readonly attestationOf: (check: string, findings: readonly FindingAttestation[]) => KnownDecision | null;
}

/** Leaves out decisions that have lapsed. */
export function indexDecisions(
  decisions: readonly Decision[],
  { orgUrl, nowMs }: { readonly orgUrl: string | null; readonly nowMs: number },
): DecisionIndex {
  const origin = orgUrl && originOf(orgUrl);
  const holding = decisions
    .filter(({ org_url: of, expires }) => (of === null || of === origin) && !isExpired(expires, nowMs))
    // One about this organization counts before one about every organization.
    .toSorted((a, b) => Number(a.org_url === null) - Number(b.org_url === null));
  const waivers = createDecisionFinder(holding.filter(({ kind }) => kind === "waiver"));
  const attestations = new Map<string, Decision>();
  for (const decision of holding) {
    if (decision.kind === "attestation" && !attestations.has(decision.check))
      attestations.set(decision.check, decision);
  }

  function waiverOf({ check, status, ...finding }: DecidedFinding & FindingWaiver): KnownDecision | null {
    if (status === "PASS") return null;
    const { waiver_reason: reason, waiver_by: by, waiver_expires: expires } = finding;
    const isHolding = reason !== null && !isExpired(expires, nowMs);
    const own = isHolding ? ({ kind: "waiver", status: null, reason, by, expires } as const) : null;
    // A monitor and an own limit name nobody: a decision of the gateway says more.
    if (own !== null && by !== null) return own;
    return waivers.find(check, { id: finding.resource_id, name: finding.resource_name }) ?? own;
  }

  function attestationOf(check: string, findings: readonly FindingAttestation[]): KnownDecision | null {
    const own = findings.find(
      ({ attestation_status: status, attestation_expires: end }) => status !== null && !isExpired(end, nowMs),
    );
    if (own === undefined) return attestations.get(check) ?? null;
    const { attestation_status: status, attestation_reason, attestation_by: by, attestation_expires: expires } = own;
    return { kind: "attestation", status, reason: attestation_reason ?? "", by, expires };
  }

  return {
    waiverOf,
    attestationOf,
    ofFinding: (finding) =>
      waiverOf(finding) ?? (finding.status === "FAIL" ? null : attestationOf(finding.check, [finding])),
  };
}

/** Returns a pattern for this resource alone, even if its name has characters of a pattern; null: it has no name. */
export function toResource({ resource_id, resource_name }: DecidedFinding): string | null {
  const text = resource_id === "" ? resource_name : resource_id;
  return text === "" ? null : text.replaceAll(/[*?\\]/g, "\\$&");
}
