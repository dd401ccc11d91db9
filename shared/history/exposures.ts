import type { Exposure } from "../schemas/history.ts";
import { isHolding } from "../rule_result.ts";
import type { Span, VerdictPoint } from "./source.ts";
import { knownOf, type Segment } from "./timeline.ts";

/** An exposure that was open before everything that the timeline knows: its opening is kept longer than the rest. */
export type CarriedExposure = Pick<Exposure, "opened" | "actor" | "cause">;

interface OpenExposure {
  readonly notBefore: number | null;
  readonly knownAt: number;
  readonly by: Pick<VerdictPoint, "actor" | "cause">;
  failedMs: number;
  /** The end of the last known FAIL. */
  failedUntil: number;
}

/**
 * The times in which a rule was FAIL, in order: from the first known FAIL until nothing speaks against it any more. Those that the period
 * does not touch are left out. An exposure that is open lasts until the end of the period.
 */
export function exposuresOf(
  timeline: readonly Segment[],
  period: Span,
  carried: CarriedExposure | null = null,
): readonly Exposure[] {
  const exposures: { readonly exposure: Exposure; readonly until: number }[] = [];
  let open: OpenExposure | null = carried === null ? null : resume(carried);
  let knownUntil: number | null = open?.knownAt ?? null;
  for (const { from, to, point } of knownOf(timeline)) {
    if (from > period.to) break;
    const end = Math.min(to, period.to);
    if (point.status === "FAIL") {
      open ??= { notBefore: knownUntil, knownAt: from, by: point, failedMs: 0, failedUntil: from };
      open.failedMs += end - from;
      open.failedUntil = end;
    } else if (open !== null && isHolding(point)) {
      const closed = { not_before: toTime(open.failedUntil), known_at: toTime(from), actor: point.actor };
      exposures.push({ exposure: toExposure(open, closed, from), until: from });
      open = null;
    }
    knownUntil = end;
  }
  if (open !== null) exposures.push({ exposure: toExposure(open, null, period.to), until: period.to });
  return exposures.filter(({ until }) => until >= period.from).map(({ exposure }) => exposure);
}

function resume({ opened, actor, cause }: CarriedExposure): OpenExposure {
  const knownAt = Date.parse(opened.known_at);
  const notBefore = opened.not_before === null ? null : Date.parse(opened.not_before);
  return { notBefore, knownAt, by: { actor, cause }, failedMs: 0, failedUntil: knownAt };
}

function toExposure(open: OpenExposure, closed: Exposure["closed"], until: number): Exposure {
  const { notBefore, knownAt, by, failedMs } = open;
  return {
    opened: { not_before: notBefore === null ? null : toTime(notBefore), known_at: toTime(knownAt) },
    closed,
    actor: by.actor,
    cause: by.cause,
    least_seconds: failedMs / 1000,
    most_seconds: (until - (notBefore ?? knownAt)) / 1000,
  };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
