import type { Monitor } from "../monitor_wire.ts";

/**
 * What can be said of a monitor at a time. `stale`: its producer no longer reports. `blind`: the org's log cannot be read.
 * `delayed`: it reports, and is behind. `unknown`: this page itself is not connected.
 */
export type Pulse = "alive" | "starting" | "delayed" | "stale" | "blind" | "stopped" | "ended" | "unknown";

/** The worst of what holds, so that nothing looks better than it is. */
export function pulseOf(monitor: Monitor, nowMs: number): Pulse {
  const { status, logStatus, lastLookAtMs, lagSeconds, updatedAtMs } = monitor;
  if (status === "ended" || status === "stopped") return status;
  const boundMs = boundSeconds(monitor) * 1000;
  if (status === "stale" || nowMs - updatedAtMs > boundMs) return "stale";
  if (logStatus === "unreadable") return "blind";
  if (lastLookAtMs === null) return "starting";
  return nowMs - lastLookAtMs > boundMs || (lagSeconds ?? 0) * 1000 > boundMs ? "delayed" : "alive";
}

/** The same bound as the gateway's. */
function boundSeconds({ intervalSeconds }: Monitor): number {
  return Math.max(3 * intervalSeconds, 60);
}
