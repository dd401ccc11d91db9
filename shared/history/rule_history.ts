import type { RuleHistory, VerdictChange } from "../schemas/history.ts";
import { daysOf } from "./days.ts";
import { exposuresOf, type CarriedExposure } from "./exposures.ts";
import type { Span, VerdictSource } from "./source.ts";
import { intervalsOf, timelineOf } from "./timeline.ts";

export interface RuleHistoryInput {
  readonly check: string;
  readonly vulnId: string | null;
  /** Every source that looked in the period, and those before it since the oldest exposure in it was opened. */
  readonly sources: readonly VerdictSource[];
  /** `to` is now, unless only the past is shown. */
  readonly period: Span;
  /** An exposure that was opened before the oldest source. */
  readonly carried?: CarriedExposure | null;
  /** The list, in the order of writing; absent: it is not shown. */
  readonly changes?: readonly VerdictChange[];
}

/** The history of one rule: the same for the same sources, in any order, at the gateway and without one. */
export function ruleHistoryOf(input: RuleHistoryInput): RuleHistory {
  const { check, vulnId, sources, period, carried = null, changes } = input;
  const timeline = timelineOf(sources);
  return {
    check,
    vuln_id: vulnId,
    intervals: intervalsOf(timeline, period),
    exposures: exposuresOf(timeline, period, carried),
    days: daysOf(timeline, period),
    ...(changes !== undefined && { changes }),
  };
}
