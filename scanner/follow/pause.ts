import type { FollowPlan } from "./follow_plan.ts";

/** While events of one transaction may still come, the log is read so often. */
const settlePollMs = 2500;

interface Moment {
  readonly nowMs: number;
  /** True while events of one transaction may still come. */
  readonly isSettling: boolean;
  readonly lastFullMs: number;
  /** The time to collect again what failed; null: nothing did. */
  readonly retryAtMs: number | null;
}

/** The time until the next look at the log, in milliseconds. */
export function pauseMs(
  { intervalMs, reconcileMs }: Pick<FollowPlan, "intervalMs" | "reconcileMs">,
  { nowMs, isSettling, lastFullMs, retryAtMs }: Moment,
): number {
  const times = [
    isSettling ? Math.min(intervalMs, settlePollMs) : intervalMs,
    lastFullMs + reconcileMs - nowMs,
    ...(retryAtMs === null ? [] : [retryAtMs - nowMs]),
  ];
  // A clock that was set must neither hold the follower up nor let it run without a pause.
  return Math.min(intervalMs, Math.max(1, Math.min(...times)));
}
