import { actorName } from "../actor.ts";
import type { Finding, Report } from "../report.ts";
import type { Explanation, NewChange } from "../schemas/change.ts";
import { missingReasons, type ManualReason, type Severity, type Status } from "../schemas/finding.ts";
import type { Exposure, HistoryActor } from "../schemas/history.ts";

/** Times are milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The result of a rule, as one run knows it. */
export interface RuleResult {
  readonly status: Status;
  readonly reason?: ManualReason;
  readonly severity: Severity;
  readonly cause: Exposure["cause"];
  /** The person who changed the configuration, as far as the provider's log says. */
  readonly actor?: HistoryActor;
  /** How long it may have been so before it was seen. Absent: not known to be longer than the time between two polls. */
  readonly unseenMs?: number;
}

type Verdict = { readonly status: Status; readonly reason: ManualReason | null };
type Source = Pick<RuleResult, "severity" | "cause">;

/** MANUAL without a reason needs review. */
export function toRuleResult({ status, reason }: Verdict, { severity, cause }: Source): RuleResult {
  return { status, ...(status === "MANUAL" && { reason: reason ?? "needs_review" }), severity, cause };
}

/** Results by check. A rule that the run did not evaluate is missing. */
export type Results = Readonly<Record<string, RuleResult>>;

/** Results that a run knew from one time to another; at one moment where both are equal. The history is computed from these alone. */
export interface Observation extends Span {
  readonly results: Results;
}

/** A scan has one observation. A monitor has one for each time without a gap in which no result moved. */
export interface RunObservation extends Observation {
  readonly runId: string;
  /** When the run first saw anything: of two that know the same moment the one that began last decides. */
  readonly began: number;
}

interface Moment {
  readonly at: number;
  /** The results that moved. Default: none, the run was alive. */
  readonly moved?: Results;
  /** A run that was silent for longer has a gap. */
  readonly longestMs: number;
}

/**
 * The observations of one run after one more moment of it, which may be late: before some of those given. `known` begins with
 * the last observation that began before that moment, if there is one.
 */
export function observe(known: readonly Observation[], { at, moved = {}, longestMs }: Moment): readonly Observation[] {
  const index = known.findLastIndex(({ from }) => from <= at);
  const before = known[index];
  const news = newsOf(moved, before?.results);
  const later = known.slice(index + 1).map((one) => ({ ...one, results: { ...one.results, ...news } }));
  const results = { ...before?.results, ...news };
  if (Object.keys(results).length === 0) return known;
  if (before === undefined) return [{ from: at, to: at, results }, ...later];
  const earlier = known.slice(0, index);
  if (before.from === at) return [...earlier, { ...before, results }, ...later];
  const isKnown = at <= before.to + longestMs;
  if (isKnown && Object.keys(news).length === 0)
    return [...earlier, { ...before, to: Math.max(before.to, at) }, ...known.slice(index + 1)];
  const begun = { from: at, to: Math.max(at, before.to), results };
  return [...earlier, isKnown ? { ...before, to: at } : before, begun, ...later];
}

/** A result that is said again keeps who caused it. */
function newsOf(moved: Results, before: Results = {}): Results {
  return Object.fromEntries(
    Object.entries(moved).flatMap(([check, result]) => {
      const old = before[check];
      if (old === undefined || !isSameResult(old, result)) return [[check, result]];
      return old.severity === result.severity ? [] : [[check, { ...old, severity: result.severity }]];
    }),
  );
}

export function isSameResult(one: Partial<Verdict> | undefined, other: Partial<Verdict> | undefined): boolean {
  return one?.status === other?.status && (one?.reason ?? null) === (other?.reason ?? null);
}

/** True for a result that says only that the rule could not be read: its time is unknown. */
export function isUnreadable({ reason }: Pick<RuleResult, "reason">): boolean {
  return missingReasons.some((missing) => missing === reason);
}

/** True for a finding that stands for objects of which the role of a run sees none: they may still be there. */
export function isUnseen(type: string, { reason, automated }: Pick<Finding, "reason" | "automated">): boolean {
  return type === "org" && reason === "partly_automated" && automated === null;
}

export type Role = Report["scan"]["role"];

/** True for an app that a scan with this role may not have seen, and that may still be there. */
export function mayBeHidden({ type }: { readonly type: string }, role: Role): boolean {
  return type === "app" && role !== "super_admin";
}

/** The verdict on a rule where nothing was seen. */
export const unseen = { status: "MANUAL", reason: "missing_role" } as const;

/** Higher is worse. Lowest is what could not be read, which decides nothing where something is known. */
export function rankOf(result: Pick<RuleResult, "status" | "reason">): number {
  if (isUnreadable(result)) return -1;
  if (result.reason === "not_applicable") return 0;
  if (result.status === "PASS") return 1;
  if (result.reason === "partly_automated") return 2;
  return result.status === "FAIL" ? 4 : 3;
}

/** The part of a change that the history needs. */
export type MovedFinding = Pick<NewChange, "check" | "to" | "seen_at" | "not_before" | "cause" | "rule"> & {
  readonly explained_by: readonly Pick<Explanation, "actor">[];
};

/** The moments at which findings of a monitor moved, in order, with the results of their rules. */
export function momentsOf(lines: readonly MovedFinding[]): readonly { readonly at: number; readonly moved: Results }[] {
  return [...Map.groupBy(lines, ({ seen_at: seenAt }) => Date.parse(seenAt))]
    .sort(([one], [other]) => one - other)
    .map(([at, moved]) => {
      const rules = [...Map.groupBy(moved, ({ check }) => check)];
      return { at, moved: Object.fromEntries(rules.map(([check, own]) => [check, resultOf(own)])) };
    });
}

/** The worse of two lines about one rule at one moment, so that their order does not matter. */
function resultOf(lines: readonly MovedFinding[]): RuleResult {
  const stated = lines.map(({ rule, cause }) => toRuleResult(rule, { severity: rule.severity, cause }));
  const worst = stated.reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
  const decisive = lines.filter(({ to }) => to?.status === worst.status);
  const explaining = decisive.length > 0 ? decisive : lines;
  const actor = actorOf(explaining.flatMap((line) => line.explained_by));
  const cause = explaining[0]?.cause ?? worst.cause;
  const unseen = explaining.map(({ seen_at: at, not_before: before }) => Date.parse(at) - Date.parse(before ?? at));
  const unseenMs = Math.max(...unseen);
  return { ...worst, cause, ...(actor !== null && { actor }), ...(unseenMs > 0 && { unseenMs }) };
}

function actorOf(events: readonly Pick<Explanation, "actor">[]): HistoryActor | null {
  const actor = events.find((event) => actorName(event.actor) !== null)?.actor ?? null;
  return actor === null ? null : { id: actor.id, login: actor.login, name: actor.name };
}
