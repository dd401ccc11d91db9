import { actorNames } from "../../../shared/actor.ts";
import { decisionText, groupChanges, objectsOf, orgPolicyText } from "../../../shared/change_groups.ts";
import { isHolding } from "../../../shared/rule_result.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import { severities } from "../../../shared/severity.ts";
import { shortFix } from "./check_catalog.ts";
import type { DecisionIndex } from "./decisions/decision_index.ts";
import { isWorse, toFinding } from "./finding.ts";
import { formatVerdict, isolated } from "./format.ts";

/** A change, and the next result of its finding that is over it: one that holds, or null for one that is gone. Undefined: it lasts. */
type Fresh = Change & { readonly end: Change["to"] | undefined };

/** Changes of one act, or of none that is known: one line for a person. */
export interface NewsItem {
  /** Id of its newest change. */
  readonly id: string;
  /** `over`: it got worse, and held again or was gone after that. */
  readonly kind: "worse" | "over" | "better" | "other";
  readonly atMs: number;
  /** The worst of what moved. */
  readonly change: Fresh;
  /** All that moved with it, newest first. */
  readonly changes: readonly Change[];
}

/** The changes after this time, worst first; null: all that are given. A failure that was waived after it is waived. */
export function toNews(
  changes: readonly Change[],
  sinceMs: number | null,
  waiverOf?: DecisionIndex["waiverOf"],
): readonly NewsItem[] {
  const ends = new Map<string, Change["to"]>();
  const fresh = changes
    .map((one): Fresh => {
      const change = { ...one, end: ends.get(one.fingerprint) };
      if (one.to === null || isHolding(one.to)) ends.set(one.fingerprint, one.to);
      if (one.to?.status !== "FAIL" || waiverOf === undefined) return change;
      const finding = toFinding(one, undefined);
      return { ...change, to_waived: finding !== null && waiverOf(finding) !== null };
    })
    // Compares times of the gateway's clock, as the last look is one; a follower may deliver late.
    .filter(({ created_at }) => sinceMs === null || Date.parse(created_at) > sinceMs);
  const explained = groupChanges(fresh.filter((change) => !isUnexplained(change)));
  // Changes that one poll found and nobody explained are one line of each kind.
  const unexplained = Map.groupBy(fresh.filter(isUnexplained), (change) => `${change.seen_at} ${kindOf(change)}`);
  return [...explained, ...unexplained.values()].flatMap(toItem).toSorted(byWorst);
}

function toItem(group: readonly Fresh[]): readonly NewsItem[] {
  const [newest] = group;
  const [change] = group.toSorted((a, b) => weightOf(a) - weightOf(b));
  if (newest === undefined || change === undefined) return [];
  return [{ id: newest.id, kind: kindOf(change), atMs: Date.parse(newest.seen_at), change, changes: group }];
}

/** No event of the log is about its objects. */
export function isUnexplained({ cause, explained_by: events }: Change): boolean {
  return ["log", "reconciliation"].includes(cause) && events.length === 0;
}

/** A waived failure is not worse news, and a result that is no longer known is not better news. */
function kindOf({ from, to, end, to_waived: isWaived }: Fresh): NewsItem["kind"] {
  if (isWorse(from, to) && isWaived) return "other";
  if (isWorse(from, to)) return end === undefined ? "worse" : "over";
  return from !== null && to !== null && !isHolding(from) && isHolding(to) ? "better" : "other";
}

/** Returns the result that it left, and the next one where the worse is over: `FAIL, then PASS`. */
export function movedText({ change: { to, to_waived: isWaived, end }, kind }: NewsItem): string {
  return `${formatVerdict(to)}${isWaived ? ", waived" : ""}${kind === "over" ? `, then ${formatVerdict(end ?? null)}` : ""}`;
}

/** Returns the remedy of a CAT I rule that fails, as the check has it, else as DISA has it. */
export function remedyOf(item: NewsItem): string | null {
  return isWorst(item) ? item.change.to_pass || shortFix(item.change.check) || null : null;
}

/** True for what got worse in CAT I. */
export function isWorst({ kind, change }: NewsItem): boolean {
  return kind === "worse" && change.rule.severity === "high";
}

/** Returns the cause of the changes in words: a person, a decision, a document. */
export function byWhom({ change }: NewsItem): string {
  const { cause, explained_by: events } = change;
  if (cause === "decision") return isolated(decisionText(change));
  if (cause === "org_policy") return orgPolicyText;
  if (isUnexplained(change)) return `${cause === "log" ? "" : "found by a full scan; "}the log names nobody`;
  const actors = actorNames(events.map(({ actor }) => actor));
  const named = actors.length === 0 ? ["someone the log does not name"] : actors;
  return [...named, ...objectsOf(events).slice(0, 2)].map(isolated).join(", ");
}

function weightOf(change: Fresh): number {
  const { to, rule } = change;
  return (kindOf(change) === "worse" ? 0 : 10) + severities.indexOf(rule.severity) + (to?.status === "FAIL" ? 0 : 0.5);
}

function byWorst(a: NewsItem, b: NewsItem): number {
  // A proven failure of CAT I, then evidence of CAT I that was lost.
  const first = (item: NewsItem) => (isWorst(item) ? Number(item.change.to?.status !== "FAIL") : 2);
  return first(a) - first(b) || b.atMs - a.atMs;
}
