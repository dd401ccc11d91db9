import { isHolding } from "./rule_result.ts";
import type { Diff } from "./schemas/diff.ts";
import type { StoredFinding } from "./schemas/finding.ts";

/** What two scans of an organization say differently about it: a pure comparison, for the command line and the page. */

/** A finding as far as a comparison needs it: of a report, or as the gateway stores it. */
export type ComparedFinding = Pick<
  StoredFinding,
  | "check"
  | "severity"
  | "fingerprint"
  | "status"
  | "reason"
  | "resource_type"
  | "resource_id"
  | "resource_name"
  | "expected"
  | "actual"
>;

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
  readonly notCompared: readonly { readonly check: string; readonly onlyIn: "before" | "after" }[];
}

/** The order of findings, and what says when they were found, makes no difference. */
export function compareFindings(
  before: readonly ComparedFinding[],
  after: readonly ComparedFinding[],
): FindingComparison {
  const beforeByCheck = Map.groupBy(before.filter(isJudged), ({ check }) => check);
  const afterByCheck = Map.groupBy(after.filter(isJudged), ({ check }) => check);
  const changes = [...afterByCheck].flatMap(([check, now]) => {
    const old = beforeByCheck.get(check);
    return old === undefined ? [] : compareCheck(old, now);
  });
  return {
    changes: changes.sort(byKindAndName),
    notCompared: [
      ...[...beforeByCheck.keys()].filter((check) => !afterByCheck.has(check)).map((check) => onlyIn("before", check)),
      ...[...afterByCheck.keys()].filter((check) => !beforeByCheck.has(check)).map((check) => onlyIn("after", check)),
    ],
  };
}

/** A rule that a revision of the STIG words otherwise, or that has no check, was not evaluated. */
function isJudged({ reason }: ComparedFinding): boolean {
  return reason !== "rule_changed" && reason !== "not_automated";
}

function onlyIn(side: "before" | "after", check: string) {
  return { check, onlyIn: side };
}

function compareCheck(before: readonly ComparedFinding[], after: readonly ComparedFinding[]): readonly FindingChange[] {
  const { pairs, removed, added } = pairUp(before, after, {
    idOf: ({ fingerprint }) => fingerprint,
    nameOf: ({ resource_type: type, resource_name: name }) => JSON.stringify([type, name]),
  });
  const isIncomplete = after.some(standsForMissingEvidence);
  return [
    ...pairs.flatMap(([old, now]) => {
      const kind = kindOfMove(old, now);
      return kind === null ? [] : [toChange(kind, old, now)];
    }),
    ...added.map((finding) => toChange("new", null, finding)),
    ...removed.map((finding) => toChange(isHolding(finding) || isIncomplete ? "gone" : "resolved", finding, null)),
  ];
}

function kindOfMove(old: ComparedFinding, now: ComparedFinding): FindingChangeKind | null {
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
function standsForMissingEvidence(finding: ComparedFinding): boolean {
  return finding.resource_type === "org" && finding.status === "MANUAL" && missingReasons.has(finding.reason);
}

function toChange(
  change: FindingChangeKind,
  before: ComparedFinding | null,
  after: ComparedFinding | null,
): FindingChange {
  const finding = after ?? before;
  if (finding === null) throw new TypeError("Cannot compare findings: none exists before nor after");
  const { check, severity, resource_type: type, resource_id: id, resource_name: name } = finding;
  return {
    change,
    check,
    severity,
    resource: { type, id, name },
    before: toVerdict(before),
    after: toVerdict(after),
  };
}

function toVerdict(finding: ComparedFinding | null): ComparedVerdict | null {
  if (finding === null) return null;
  const { status, reason, expected, actual } = finding;
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

/** By code units, so the order is the same in every locale. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

export interface Pairing<Item> {
  readonly pairs: readonly (readonly [before: Item, after: Item])[];
  readonly removed: readonly Item[];
  readonly added: readonly Item[];
}

/** Pairs what has the same id; of the rest what has the same name, where only one on each side has it. */
export function pairUp<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keys: { readonly idOf: (item: Item) => string; readonly nameOf: (item: Item) => string },
): Pairing<Item> {
  const byId = pairBy(before, after, { keyOf: keys.idOf, ofSeveral: "in_order" });
  const byName = pairBy(byId.removed, byId.added, { keyOf: keys.nameOf, ofSeveral: "none" });
  return { pairs: [...byId.pairs, ...byName.pairs], removed: byName.removed, added: byName.added };
}

interface PairOptions<Item> {
  readonly keyOf: (item: Item) => string;
  /** What becomes of several items with one key. */
  readonly ofSeveral: "in_order" | "none";
}

function pairBy<Item>(
  before: readonly Item[],
  after: readonly Item[],
  { keyOf, ofSeveral }: PairOptions<Item>,
): Pairing<Item> {
  const now = Map.groupBy(after, keyOf);
  const pairs: (readonly [Item, Item])[] = [];
  const paired = new Set<Item>();
  for (const [key, old] of Map.groupBy(before, keyOf)) {
    const others = now.get(key) ?? [];
    if (ofSeveral === "none" && (old.length > 1 || others.length > 1)) continue;
    for (const [index, one] of old.entries()) {
      const other = others[index];
      if (other === undefined) break;
      pairs.push([one, other]);
      paired.add(one).add(other);
    }
  }
  const isLeft = (item: Item) => !paired.has(item);
  return { pairs, removed: before.filter(isLeft), added: after.filter(isLeft) };
}
