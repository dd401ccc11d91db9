import { longestSilenceMs, type Monitor } from "../../../shared/schemas/monitor.ts";
import { formatDuration } from "./format.ts";

/**
 * The one word for being live. `stale`: the producer no longer reports. `blind`: the org's log cannot be read. `delayed`: it
 * reports, and is behind. `unknown`: this page itself is not connected.
 */
export type WatchState = "live" | "starting" | "delayed" | "stale" | "blind" | "stopped" | "ended" | "unknown";

/** The worst of what holds, so that nothing looks better than it is. */
export function watchStateOf(monitor: Monitor, nowMs: number): WatchState {
  const { status, log_status: logStatus, lag_seconds: lagSeconds } = monitor;
  if (status === "ended" || status === "stopped") return status;
  const boundMs = longestSilenceMs(monitor.interval_seconds);
  if (status === "stale" || nowMs - Date.parse(monitor.updated_at) > boundMs) return "stale";
  if (logStatus === "unreadable") return "blind";
  if (monitor.last_look_at === null) return "starting";
  const isBehind = nowMs - Date.parse(monitor.last_look_at) > boundMs || (lagSeconds ?? 0) * 1000 > boundMs;
  return isBehind ? "delayed" : "live";
}

/** True: what is shown may be old, and somebody has to look at the monitor. */
export function isWatchProblem(watch: WatchState | null): boolean {
  return watch !== null && ["stale", "blind", "delayed", "stopped"].includes(watch);
}

/** `live, read 3 s ago`, or why it is not live. */
export function watchText(state: WatchState, monitor: Monitor | null, nowMs: number): string {
  const ago = (time: string | null | undefined) => formatDuration(nowMs - (time ? Date.parse(time) : nowMs));
  const lookMs = monitor?.last_look_at ? nowMs - Date.parse(monitor.last_look_at) : 0;
  const behindMs = Math.max(lookMs, (monitor?.lag_seconds ?? 0) * 1000);
  return {
    live: `live, read ${ago(monitor?.last_look_at)} ago`,
    starting: "starting: the first poll of the org is running",
    delayed: `not live: the monitor is ${formatDuration(behindMs)} behind the org`,
    stale: `not watched for ${ago(monitor?.updated_at)}: the org may have changed since`,
    blind: "not live: the org's log cannot be read, results come from full scans only",
    stopped: `not watched: the monitor stopped ${ago(monitor?.updated_at)} ago`,
    ended: "monitoring has ended; these are its last results",
    unknown: "not live: this page is not connected",
  }[state];
}
