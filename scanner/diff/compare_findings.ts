import type { CheckResult, Finding } from "../../shared/report.ts";
import { isHolding } from "../../shared/rule_result.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { compareTexts, pairUp } from "./pairs.ts";

export type FindingChange = Diff["findings"][number];
export type FindingChangeKind = FindingChange["change"];
export type ComparedVerdict = NonNullable<FindingChange["before"]>;

/** In the order in which they are listed. */
export const findingChangeKinds: readonly FindingChangeKind[] = [
  "new",
  "verdict_moved",
  "reason_moved",
  "value_changed",
  "resolved",
  "gone",
];

export const findingChangeTitles: { readonly [Kind in FindingChangeKind]: string } = {
  new: "New",
  verdict_moved: "Verdict changed",
  reason_moved: "Reason changed",
  value_changed: "Value changed",
  resolved: "Resolved",
  gone: "No longer there",
};

export interface FindingComparison {
  readonly changes: readonly FindingChange[];
  /** Checks that only one of the two scans evaluated: nothing is said about them. */
  readonly notCompared: Diff["not_compared"];
}

/** Differences of two scans of an organization. The order of findings, and what says when they were found, makes none. */
export function compareFindings(before: readonly CheckResult[], after: readonly CheckResult[]): FindingComparison {
  const old = new Map(before.filter(isJudged).map((result) => [result.check, result]));
  const now = new Map(after.filter(isJudged).map((result) => [result.check, result]));
  const onlyIn = (side: "before" | "after", one: typeof old, other: typeof old): Diff["not_compared"] =>
    [...one.keys()].filter((check) => !other.has(check)).map((check) => ({ check, only_in: side }));
  return {
    changes: [...now.values()].flatMap((result) => compareCheck(old.get(result.check), result)).sort(byKindAndName),
    notCompared: [...onlyIn("before", old, now), ...onlyIn("after", now, old)],
  };
}

/** False for a rule that a revision of the STIG words otherwise, or that has no check. */
export function isJudged({ findings }: CheckResult): boolean {
  return !findings.some(({ reason }) => reason === "rule_changed" || reason === "not_automated");
}

function compareCheck(before: CheckResult | undefined, after: CheckResult): readonly FindingChange[] {
  if (before === undefined) return [];
  const { pairs, removed, added } = pairUp(before.findings, after.findings, {
    idOf: ({ fingerprint }) => fingerprint,
    nameOf: ({ resource: { type, name } }) => JSON.stringify([type, name]),
  });
  const isIncomplete = after.findings.some(standsForMissingEvidence);
  const { check, severity } = after;
  const about = (change: FindingChangeKind, { resource: { type, id, name } }: Finding) => {
    return { change, check, severity, resource: { type, id, name } };
  };
  return [
    ...pairs.flatMap(([old, now]) => {
      const kind = kindOfMove(old, now);
      return kind === null ? [] : [{ ...about(kind, now), before: toVerdict(old), after: toVerdict(now) }];
    }),
    ...added.map((finding) => ({ ...about("new", finding), before: null, after: toVerdict(finding) })),
    ...removed.map((finding) => ({
      ...about(isHolding(finding) || isIncomplete ? "gone" : "resolved", finding),
      before: toVerdict(finding),
      after: null,
    })),
  ];
}

function kindOfMove(old: Finding, now: Finding): FindingChangeKind | null {
  if (old.status !== now.status) return isHolding(now) && !isHolding(old) ? "resolved" : "verdict_moved";
  if (old.reason !== now.reason) return "reason_moved";
  return old.actual === now.actual && old.expected === now.expected ? null : "value_changed";
}

const missingReasons: ReadonlySet<string | null> = new Set([
  "missing_scope",
  "missing_role",
  "not_available",
  "provider_error",
  "unreadable",
]);

/** The finding of a list that could not be read to its end: what is not in it may still be there. */
function standsForMissingEvidence({ resource, status, reason }: Finding): boolean {
  return resource.type === "org" && status === "MANUAL" && missingReasons.has(reason);
}

function toVerdict({ status, reason, expected, actual }: Finding): ComparedVerdict {
  return { status, reason, expected, actual };
}

function byKindAndName(one: FindingChange, other: FindingChange): number {
  return (
    findingChangeKinds.indexOf(one.change) - findingChangeKinds.indexOf(other.change) ||
    compareTexts(one.check, other.check) ||
    compareTexts(one.resource.name, other.resource.name) ||
    compareTexts(one.resource.id, other.resource.id)
  );
}
