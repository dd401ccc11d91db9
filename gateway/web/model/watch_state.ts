import type { Monitor } from "../monitor_wire.ts";
import { formatDuration } from "./format.ts";

/**
 * How far the results of a monitor can be trusted. `stale`: its producer no longer reports. `blind`: the org's log cannot be
 * read. `delayed`: it reports, and is behind. `unknown`: this page itself is not connected.
 */
export type WatchState = "live" | "starting" | "delayed" | "stale" | "blind" | "stopped" | "ended" | "unknown";

export const watchWords: Readonly<Record<WatchState, string>> = {
  live: "Live",
  starting: "Starting",
  delayed: "Delayed",
  stale: "No reports",
  blind: "Log unreadable",
  stopped: "Stopped",
  ended: "Ended",
  unknown: "Not known",
};

/** The worst of what holds, so that nothing looks better than it is. */
export function watchStateOf(monitor: Monitor, nowMs: number): WatchState {
  const { status, logStatus, lastLookAtMs, lagSeconds, updatedAtMs } = monitor;
  if (status === "ended" || status === "stopped") return status;
  const boundMs = boundSeconds(monitor) * 1000;
  if (status === "stale" || nowMs - updatedAtMs > boundMs) return "stale";
  if (logStatus === "unreadable") return "blind";
  if (lastLookAtMs === null) return "starting";
  return nowMs - lastLookAtMs > boundMs || (lagSeconds ?? 0) * 1000 > boundMs ? "delayed" : "live";
}

/** The state as a sentence about this monitor now. */
export function explainWatch(state: WatchState, monitor: Monitor, nowMs: number): string {
  return explanations[state](monitor, nowMs);
}

const explanations: Readonly<Record<WatchState, (monitor: Monitor, nowMs: number) => string>> = {
  live: ({ lastLookAtMs }, nowMs) => `Live, read ${formatDuration(nowMs - (lastLookAtMs ?? nowMs))} ago`,
  starting: () => "The first poll of the org is running",
  delayed: ({ lastLookAtMs, lagSeconds }, nowMs) => {
    const behindMs = Math.max(nowMs - (lastLookAtMs ?? nowMs), (lagSeconds ?? 0) * 1000);
    return `The monitor is ${formatDuration(behindMs)} behind the org`;
  },
  stale: ({ updatedAtMs }, nowMs) =>
    `No report for ${formatDuration(nowMs - updatedAtMs)}: the org may have changed since`,
  blind: () => "The org's log cannot be read: results come from full scans only",
  stopped: ({ updatedAtMs }, nowMs) => `Stopped: the last report was ${formatDuration(nowMs - updatedAtMs)} ago`,
  ended: () => "Monitoring has ended; these are the final results",
  unknown: () => "This page is not connected: the org may have changed since it was read",
};

/** The same bound as the gateway's. */
function boundSeconds({ intervalSeconds }: Monitor): number {
  return Math.max(3 * intervalSeconds, 60);
}
