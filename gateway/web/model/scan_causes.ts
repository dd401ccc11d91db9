import { stateOf } from "../../../shared/rule_result.ts";
import type { FindingRecord } from "../scan_wire.ts";
import type { Finding } from "./scan_model.ts";

/** One change, and what it closes. */
export interface ScanCause {
  readonly id: string;
  /** Where, and what to change there. */
  readonly change: string;
  readonly checks: number;
  readonly findings: number;
}

export interface ScanCauses {
  /** First what closes most checks. */
  readonly causes: readonly ScanCause[];
  /** Checks that fail, and those of them whose failing findings all have a cause. */
  readonly failing: number;
  readonly closed: number;
}

/** By the failing findings as they are stored. */
export function causesOfScan(findings: Iterable<Finding>): ScanCauses {
  const failing = [...findings].filter((finding) => stateOf(finding) === "fail" && !finding.advisory);
  const groups = Map.groupBy(failing, ({ cause }) => cause);
  const causes = [...groups].flatMap(([id, closed]): readonly ScanCause[] => {
    if (id === null) return [];
    const changes = [...new Set(closed.flatMap(({ to_pass }) => to_pass ?? []))].toSorted();
    const checks = new Set(closed.map(({ check }) => check));
    return [{ id, change: joined(changes), checks: checks.size, findings: closed.length }];
  });
  const byCheck = [...Map.groupBy(failing, ({ check }) => check).values()];
  return {
    causes: causes.toSorted((one, other) => other.checks - one.checks || (one.id < other.id ? -1 : 1)),
    failing: byCheck.length,
    closed: byCheck.filter((ofCheck) => ofCheck.every(({ cause }) => cause !== null)).length,
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

/** `In rule "A": set b` and `In rule "A": set c` as `In rule "A": set b; set c`. */
function joined([first = "", ...more]: readonly string[]): string {
  const place = first.slice(0, first.lastIndexOf(": ") + 2);
  return [first, ...more.map((change) => (change.startsWith(place) ? change.slice(place.length) : change))].join("; ");
}
