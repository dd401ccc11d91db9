import type { Attestation, CheckResult } from "../../shared/report.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";

/** A person's attestation of a check that the API cannot decide, or decides only in part. */
export interface AttestationEntry extends Attestation {
  readonly check: string;
}

/**
 * The results with the attestations next to them; a status never changes. A proven FAIL is not attested away (a
 * waiver does that openly), so an attestation of PASS on it is reported as ignored.
 */
export function applyAttestations(
  results: readonly CheckResult[],
  attestations: readonly AttestationEntry[],
  nowMs: number,
): { readonly results: readonly CheckResult[]; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const byCheck = new Map<string, Attestation>();
  for (const { check, ...attestation } of attestations) {
    const result = results.find((candidate) => candidate.check === check);
    if (isExpired(attestation.expires, nowMs)) {
      warnings.push(`The attestation of ${vulnIdOf(check)} expired on ${attestation.expires} and is ignored`);
    } else if (result?.status === "FAIL" && attestation.status !== "FAIL") {
      warnings.push(
        `The attestation of ${vulnIdOf(check)} is ignored: the scan found a FAIL, which only a waiver accepts`,
      );
    } else {
      byCheck.set(check, attestation);
    }
  }
  return {
    results: results.map((result) => ({ ...result, attestation: byCheck.get(result.check) ?? null })),
    warnings,
  };
}
