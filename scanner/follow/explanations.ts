import type { ArtifactName, CollectedArtifacts, MissingReason } from "../evidence/artifacts.ts";
import { isNewFailure, isOfDecision, objectOf, toLine, type ChangeLine, type Move } from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { LogEvent } from "./log_event.ts";
import type { JudgedCheck } from "./verdicts.ts";
import { relateObjects } from "./who_changed.ts";

/** An event of the log that touches what a check reads. */
export interface Relevant {
  readonly event: LogEvent;
  readonly artifacts: readonly ArtifactName[];
}

export interface ExplainedMoves {
  readonly lines: readonly ChangeLine[];
  /** True when one of them is what `--fail-on` ends with. */
  readonly hasFailed: boolean;
}

/** The lines of findings that moved, each with the events that explain it, and with the others of the same interval. */
export function explainMoves(
  judged: readonly JudgedCheck[],
  round: {
    readonly events: readonly Relevant[];
    /** The evidence before and after. */
    readonly artifacts: readonly [before: CollectedArtifacts, after: CollectedArtifacts];
    /** Cause of a change that no event explains. */
    readonly otherCause: "reconciliation" | "start" | "org_policy";
    readonly seenAt: string;
    readonly newId: FollowParts["newId"];
    readonly plan: Pick<FollowPlan, "orgUrl" | "failOn" | "withAddresses">;
    readonly monitorId: string;
  },
): ExplainedMoves {
  const { events, artifacts, otherCause, seenAt, newId, plan, monitorId } = round;
  const { orgUrl, withAddresses } = plan;
  const lines: ChangeLine[] = [];
  let hasFailed = false;
  for (const { check, needs, moves, rule, isNew } of judged) {
    const touching = isNew ? [] : events.filter((event) => event.artifacts.some((name) => needs.includes(name)));
    const isAbout = touching.length === 0 ? null : relateObjects(...artifacts, needs);
    for (const move of moves) {
      const { resource } = move.to ?? move.from ?? {};
      const isNamed = ({ event }: Relevant) => resource !== undefined && isAbout?.(event, resource) === true;
      const named = isOfOrg(move) ? touching.filter(isNamed) : [];
      const unexplained = isOfDecision(move) ? "decision" : touching.length > 0 ? "log" : otherCause;
      const cause = isNew ? "start" : named.length > 0 ? "log" : unexplained;
      const also = isNew || cause === "decision" ? [] : events.filter((event) => !named.includes(event));
      const toEvents = (all: readonly Relevant[]) => all.map(({ event }) => event);
      const facts = { seenAt, events: toEvents(named), also: also.map(textOf), rule, orgUrl, monitorId, withAddresses };
      lines.push(toLine(move, { id: newId(), cause, ...facts }));
    }
    hasFailed ||= !isNew && moves.some((move) => isNewFailure(move, plan.failOn, check.rule.severity));
  }
  return { lines, hasFailed };
}

/** Returns the type of an event and the name of its object, without who made it. */
function textOf({ event }: Relevant): string {
  return [event.type, objectOf(event)?.name ?? ""].join(" ").trimEnd();
}

const unread: ReadonlySet<string> = new Set<MissingReason>([
  "missing_scope",
  "missing_role",
  "not_available",
  "provider_error",
]);

/** False where nothing of the org's configuration moved the finding: a decision did, or the provider refused to show it. */
function isOfOrg(move: Move): boolean {
  return !isOfDecision(move) && !unread.has(move.to?.reason ?? "");
}
