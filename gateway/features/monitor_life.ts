import type { monitors } from "../../drizzle/schema.ts";
import type { Monitor } from "../../shared/schemas/monitor.ts";

export type MonitorLife = Pick<typeof monitors.$inferSelect, "status" | "staleAt" | "updatedAt" | "intervalSeconds">;

export function presentStatus(row: MonitorLife, nowMs: number): Monitor["status"] {
  return isStale(row, nowMs) ? "stale" : row.status;
}

const minStaleSeconds = 60;

/** As the column `stale_from` has it: what was published as stale is read as stale. */
function isStale({ status, staleAt, updatedAt, intervalSeconds }: MonitorLife, nowMs: number): boolean {
  const silentMs = nowMs - updatedAt.getTime();
  return (
    status === "running" && (staleAt !== null || silentMs >= Math.max(3 * intervalSeconds, minStaleSeconds) * 1000)
  );
}
