import type { RuleHistory } from "../schemas/history.ts";
import { daysOf } from "./days.ts";
import { exposuresOf } from "./exposures.ts";
import type { RunObservation, Span } from "./observation.ts";
import { intervalsOf, timelineOf } from "./timeline.ts";

export interface RuleHistoryInput {
  readonly check: string;
  readonly vulnId: string | null;
  /** Observations of every run that saw the organization until the end of the period. */
  readonly observations: readonly RunObservation[];
  /** `to` is now, unless only the past is shown. */
  readonly period: Span;
}

/** The history of one rule: the same for the same observations, in any order, at the gateway and without one. */
export function ruleHistoryOf({ check, vulnId, observations, period }: RuleHistoryInput): RuleHistory {
  const timeline = timelineOf(check, observations);
  return {
    check,
    vuln_id: vulnId,
    intervals: intervalsOf(timeline, period),
    exposures: exposuresOf(timeline, period),
    days: daysOf(timeline, period),
  };
}
