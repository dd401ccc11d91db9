import type { Exposure } from "../schemas/history.ts";
import { isHolding } from "../rule_result.ts";
import type { RuleResult, Span } from "./observation.ts";
import { readableOf, type Segment } from "./timeline.ts";

interface OpenExposure {
  readonly notBefore: number | null;
  readonly knownAt: number;
  readonly by: RuleResult;
  failedMs: number;
  /** The end of the last known FAIL. */
  failedUntil: number;
}

/**
 * The times in which a rule was FAIL, in order: from the first known FAIL until nothing speaks against it any more. Those that the period
 * does not touch are left out. An exposure that is open lasts until the end of the period.
 */
export function exposuresOf(timeline: readonly Segment[], period: Span): readonly Exposure[] {
  const exposures: { readonly exposure: Exposure; readonly until: number }[] = [];
  let open: OpenExposure | null = null;
  let knownUntil: number | null = null;
  for (const { from, to, result } of readableOf(timeline)) {
    if (from > period.to) break;
    const end = Math.min(to, period.to);
    if (result.status === "FAIL") {
      open ??= { notBefore: knownUntil, knownAt: from, by: result, failedMs: 0, failedUntil: from };
      open.failedMs += end - from;
      open.failedUntil = end;
    } else if (open !== null && isHolding(result)) {
      const closed = { not_before: toTime(open.failedUntil), known_at: toTime(from), actor: result.actor ?? null };
      exposures.push({ exposure: toExposure(open, closed, from), until: from });
      open = null;
    }
    knownUntil = end;
  }
  if (open !== null) exposures.push({ exposure: toExposure(open, null, period.to), until: period.to });
  return exposures.filter(({ until }) => until >= period.from).map(({ exposure }) => exposure);
}

function toExposure(open: OpenExposure, closed: Exposure["closed"], until: number): Exposure {
  const { notBefore, knownAt, by, failedMs } = open;
  return {
    opened: { not_before: notBefore === null ? null : toTime(notBefore), known_at: toTime(knownAt) },
    closed,
    actor: by.actor ?? null,
    cause: by.cause,
    least_seconds: failedMs / 1000,
    most_seconds: (until - (notBefore ?? knownAt)) / 1000,
  };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
