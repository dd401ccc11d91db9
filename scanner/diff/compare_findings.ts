import type { CheckResult, Finding } from "../../shared/report.ts";
import { isHolding } from "../../shared/rule_result.ts";
import { findingChanges, type Diff, type FindingChange } from "./diff_schema.ts";
import { isUnreadable, isUnseen, mayBeHidden, type Role } from "../../shared/history/observation.ts";
import { sortBy } from "../checks/parsing/names.ts";
import { pairUp } from "./compare_values.ts";

/**
 * Differences of two scans of an organization, the second with this role. The order of findings, and what says when they were found, makes
 * none.
 */
export function compareFindings(before: readonly CheckResult[], after: readonly CheckResult[], role: Role) {
  const idOf = ({ check }: CheckResult) => check;
  const { pairs, removed, added } = pairUp(before.filter(isJudged), after.filter(isJudged), { idOf });
  const changes = pairs.flatMap(([old, now]) => compareCheck(old, now, role));
  /** Checks that only one of the two scans evaluated: nothing is said about them. */
  const notCompared: Diff["not_compared"] = [
    ...removed.map(({ check }) => ({ check, only_in: "before" as const })),
    ...added.map(({ check }) => ({ check, only_in: "after" as const })),
  ];
  const placeOf = ({ change, check, resource: { name, id } }: FindingChange) =>
    [findingChanges.indexOf(change), check, name, id].join("\0");
  return { changes: sortBy(changes, placeOf), notCompared };
}

/** False for a rule that a revision of the STIG words otherwise, or that has no check. */
export function isJudged({ findings }: CheckResult): boolean {
  return !findings.some(({ reason }) => reason === "rule_changed" || reason === "not_automated");
}

function compareCheck(before: CheckResult, after: CheckResult, role: Role): readonly FindingChange[] {
  const { pairs, removed, added } = pairUp(before.findings, after.findings, {
    idOf: ({ fingerprint }) => fingerprint,
    nameOf: ({ resource: { type, name } }) => JSON.stringify([type, name]),
  });
  const isIncomplete = after.findings.some(standsForMissingEvidence);
  const toChange = (change: FindingChange["change"], old: Finding | null, now: Finding | null): FindingChange => {
    const { type = "", id = "", name = "" } = (now ?? old)?.resource ?? {};
    const { check, severity } = after;
    return { change, check, severity, resource: { type, id, name }, before: toVerdict(old), after: toVerdict(now) };
  };
  return [
    ...pairs.flatMap(([old, now]) => {
      const kind = kindOfMove(old, now);
      return kind === null ? [] : [toChange(kind, old, now)];
    }),
    ...added.map((finding) => toChange("new", null, finding)),
    ...removed.map((finding) => {
      const isGone = isHolding(finding) || isIncomplete || mayBeHidden(finding.resource, role);
      return toChange(isGone ? "gone" : "resolved", finding, null);
    }),
  ];
}

function kindOfMove(old: Finding, now: Finding): FindingChange["change"] | null {
  if (old.status !== now.status) return isHolding(now) && !isHolding(old) ? "resolved" : "verdict_moved";
  if (old.reason !== now.reason) return "reason_moved";
  return old.actual === now.actual && old.expected === now.expected ? null : "value_changed";
}

/** The finding of a list that could not be read to its end, or of which nothing was seen: what is not in it may still be there. */
function standsForMissingEvidence(finding: Finding): boolean {
  const { resource, status, reason } = finding;
  if (isUnseen(resource.type, finding)) return true;
  return resource.type === "org" && status === "MANUAL" && reason !== null && isUnreadable({ reason });
}

function toVerdict(finding: Finding | null): FindingChange["before"] {
  if (finding === null) return null;
  const { status, reason, expected, actual } = finding;
  return { status, reason, expected, actual };
}
