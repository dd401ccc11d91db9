import { isExpired } from "../../../../shared/decisions/expiry.ts";
import { createDecisionFinder } from "../../../../shared/decisions/decision_finder.ts";
import type { Decision } from "../../../../shared/schemas/decision.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import type { Finding } from "../finding.ts";

/** Fields by which a decision is found. */
export type DecidedFinding = Pick<Finding, "check" | "status" | "resource_id" | "resource_name">;

/** Which decisions are about the findings of one organization, as the next scan with `--decisions-from-gateway` applies them. */
export interface DecisionIndex {
  readonly waiverOf: (finding: DecidedFinding) => Decision | null;
  /** Its waiver, else the attestation of its check; a failure is not attested away. */
  readonly ofFinding: (finding: DecidedFinding) => Decision | null;
  readonly attestationOf: (check: string) => Decision | null;
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
  const attestationOf = (check: string) => attestations.get(check) ?? null;

  function waiverOf({ check, status, resource_id, resource_name }: DecidedFinding): Decision | null {
    if (status === "PASS") return null;
    return waivers.find(check, { id: resource_id, name: resource_name }) ?? null;
  }

  return {
    waiverOf,
    attestationOf,
    ofFinding: (finding) => waiverOf(finding) ?? (finding.status === "FAIL" ? null : attestationOf(finding.check)),
  };
}

/** Returns a pattern for this resource alone, even if its name has characters of a pattern; null: it has no name. */
export function toResource({ resource_id, resource_name }: DecidedFinding): string | null {
  const text = resource_id === "" ? resource_name : resource_id;
  return text === "" ? null : text.replaceAll(/[*?\\]/g, "\\$&");
}
