import type { ArtifactName } from "../evidence/artifacts.ts";
import { isNewFailure, isOfDecision, objectOf, toLine, type ChangeLine } from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { LogEvent } from "./log_event.ts";
import type { JudgedCheck } from "./verdicts.ts";

/** An event of the log that touches what a check reads. */
export interface Relevant {
  readonly event: LogEvent;
  readonly artifacts: readonly ArtifactName[];
  readonly seenAtMs: number;
}

export interface ExplainedMoves {
  readonly lines: readonly ChangeLine[];
  /** The events that explain one of them. */
  readonly used: ReadonlySet<Relevant>;
  /** True when one of them is what `--fail-on` ends with. */
  readonly hasFailed: boolean;
}

/** The lines of findings that moved, each with the events that explain it. */
export function explainMoves(
  judged: readonly JudgedCheck[],
  round: {
    readonly events: readonly Relevant[];
    readonly recent: readonly Relevant[];
    /** For what no event explains. */
    readonly otherCause: "reconciliation" | "start" | "org_policy";
    readonly seenAt: string;
    readonly newId: FollowParts["newId"];
    readonly plan: Pick<FollowPlan, "orgUrl" | "failOn" | "withAddresses">;
    readonly monitorId: string;
  },
): ExplainedMoves {
  const { events, recent, otherCause, seenAt, newId, plan, monitorId } = round;
  const { orgUrl, withAddresses } = plan;
  const lines: ChangeLine[] = [];
  const used = new Set<Relevant>();
  let hasFailed = false;
  for (const { check, needs, moves, rule, isNew } of judged) {
    const explaining = isNew ? [] : explain(needs, events, recent);
    for (const event of explaining) used.add(event);
    const also = isNew ? [] : events.filter((event) => !explaining.includes(event)).map(({ event }) => textOf(event));
    const facts = {
      seenAt,
      events: explaining.map(({ event }) => event),
      also,
      rule,
      orgUrl,
      monitorId,
      withAddresses,
    };
    for (const move of moves) {
      const unexplained = isOfDecision(move) ? "decision" : otherCause;
      const cause = isNew ? "start" : explaining.length > 0 ? "log" : unexplained;
      lines.push(toLine(move, { id: newId(), cause, ...facts }));
    }
    hasFailed ||= !isNew && moves.some((move) => isNewFailure(move, plan.failOn, check.rule.severity));
  }
  return { lines, used, hasFailed };
}

/** Returns the type of an event and the name of its object, without who made it. */
function textOf(event: LogEvent): string {
  return [event.type, objectOf(event)?.name ?? ""].join(" ").trimEnd();
}

/** Events that touch what the check reads, with those of the same transactions that came before and explained nothing yet. */
function explain(
  needs: readonly ArtifactName[],
  events: readonly Relevant[],
  recent: readonly Relevant[],
): readonly Relevant[] {
  const touches = ({ artifacts }: Relevant) => artifacts.some((name) => needs.includes(name));
  const explaining = events.filter(touches);
  if (explaining.length === 0) return [];
  const transactions = new Set(explaining.map(({ event }) => event.transactionId).filter((id) => id !== null));
  const earlier = recent.filter(
    (other) =>
      !explaining.includes(other) &&
      touches(other) &&
      other.event.transactionId !== null &&
      transactions.has(other.event.transactionId),
  );
  return [...earlier, ...explaining];
}
