import type { monitors } from "../../drizzle/schema.ts";
import type { Monitor } from "../../shared/schemas/monitor.ts";

export type MonitorLife = Pick<typeof monitors.$inferSelect, "status" | "staleAt" | "updatedAt" | "intervalSeconds">;

export function presentStatus(row: MonitorLife, nowMs: number): Monitor["status"] {
  return isStale(row, nowMs) ? "stale" : row.status;
}

/** After so long without a word of a monitor nobody knows what happened meanwhile. */
export function longestSilenceMs({ intervalSeconds }: Pick<MonitorLife, "intervalSeconds">): number {
  return Math.max(3 * intervalSeconds, 60) * 1000;
}

/** As the column `stale_from` has it: what was published as stale is read as stale. */
function isStale(monitor: MonitorLife, nowMs: number): boolean {
  const silentMs = nowMs - monitor.updatedAt.getTime();
  return monitor.status === "running" && (monitor.staleAt !== null || silentMs >= longestSilenceMs(monitor));
}
