import { causesHeadline, closesText, joinChanges, rankCauses } from "../../../shared/causes.ts";
import { stateOf } from "../../../shared/rule_result.ts";
import type { FindingRecord } from "../scan_wire.ts";
import { findCheck } from "./check_catalog.ts";
import type { DecisionIndex } from "./decisions/decision_index.ts";
import type { Finding } from "./scan_model.ts";

/** One change, in the words of the reports. */
export interface ScanCause {
  readonly id: string;
  /** Where, and what to change there. */
  readonly change: string;
  readonly closes: string;
}

export interface ScanCauses {
  readonly headline: string;
  readonly causes: readonly ScanCause[];
}

/** By the failing findings as they are stored. */
export function causesOfScan(findings: Iterable<Finding>, { waiverOf }: Pick<DecisionIndex, "waiverOf">): ScanCauses {
  const failing = [...findings].filter((finding) => stateOf(finding) === "fail" && !finding.advisory);
  const ranked = rankCauses(
    failing.map((finding) => ({
      ...finding,
      vuln_id: findCheck(finding.check)?.vulnId ?? finding.check,
      waived: waiverOf(finding) !== null,
    })),
  );
  return {
    headline: causesHeadline(ranked),
    causes: ranked.causes.map((cause) => ({
      id: cause.id,
      change: joinChanges(cause.findings.flatMap(({ to_pass }) => to_pass ?? [])),
      closes: closesText(cause),
    })),
  };
}

/** What fails now as the last scan explains it: a monitor's change does not name the object that decides. */
export function withCauses(findings: Iterable<Finding>, scanned: readonly FindingRecord[]): readonly Finding[] {
  const failed = new Map(scanned.flatMap((one) => (one.status === "FAIL" ? [[one.fingerprint, one] as const] : [])));
  return [...findings].map((finding) => {
    const known = failed.get(finding.fingerprint);
    return { ...finding, cause: known?.cause ?? null, to_pass: known?.to_pass ?? null };
  });
}
