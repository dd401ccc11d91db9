import { withTimeout } from "../../shared/with_timeout.ts";
import type { OpenStream, StreamContext } from "./open_stream.ts";

/** A terminal event that was stored may take this long to be published: what ended is not closed without it before. */
export const endGraceMs = 5000;

export type TenantStreams = ReturnType<typeof createTenantStreams>;

/**
 * One tenant's open and closing streams. They are rechecked periodically: the authority of all subjects in one query, then the opening
 * of each stream. A check begins at the latest 60 % of the interval after the last, a sweep later, and its query may take 30 %, so
 * that even a slow query closes a revoked stream in time.
 *
 * While the database does not answer the streams stay: an outage would otherwise take every live view with it, and nothing
 * can be revoked in a database that is down. But trust expires: streams that could not be confirmed for two intervals are
 * closed within two more, spread, so that they do not all reconnect at once.
 */
export function createTenantStreams(id: string, context: StreamContext) {
  const { hub, stillAllowed, recheckChannels, recheckMs, count, now, random } = context;
  const streams = new Set<OpenStream>();
  let isChecking = false;
  /** True while the openings of the last check are repeated. */
  let isReopening = false;
  /**
   * When the next check begins, after the last one of the stream that was checked first. The first is spread widely: after a restart
   * all tenants' streams reconnect together.
   */
  let waitMs = drawWait(0.25);

  return { streams, onSweep };

  function onSweep(nowMs: number): void {
    let checkedMs = Infinity;
    for (const stream of streams) {
      stream.onSweep(nowMs);
      if (stream.isOpen) checkedMs = Math.min(checkedMs, stream.checkedMs);
    }
    if (!isChecking && nowMs - checkedMs >= waitMs) void check(nowMs);
  }

  /** Never over 60 % of the interval, and at least the given share of that. */
  function drawWait(minShare: number): number {
    return recheckMs * 0.6 * (minShare + (1 - minShare) * random());
  }

  /** Never rejects: every failure is counted, and the next check retries. */
  async function check(nowMs: number): Promise<void> {
    const open = [...streams].filter(({ isOpen }) => isOpen);
    for (const stream of open) stream.checkedMs = nowMs;
    waitMs = drawWait(0.75);
    isChecking = true;
    const bySubject = [...Map.groupBy(open, ({ principal }) => `${principal.kind}:${principal.id}`).values()];
    const subjects = bySubject.flatMap(([first]) => first?.principal ?? []);
    try {
      const allowed = await withTimeout(stillAllowed(id, subjects), recheckMs * 0.3);
      const kept = bySubject.filter(([first]) => first !== undefined && allowed.has(first.principal));
      const confirmed = new Set(kept.flat());
      for (const stream of open) {
        if (confirmed.has(stream)) stream.confirmedMs = nowMs;
        else stream.close("revoked");
      }
      void reopenAll(kept);
    } catch {
      count("authority_rechecks_failed", null);
      closeUnconfirmed();
    }
    isChecking = false;
  }

  /** One subject after the other, so that a tenant with thousands of them takes one connection of the pool. Never rejects. */
  async function reopenAll(bySubject: readonly (readonly OpenStream[])[]): Promise<void> {
    if (recheckChannels === undefined || isReopening) return;
    isReopening = true;
    for (const streams of bySubject) {
      const [first] = streams;
      if (first === undefined) continue;
      try {
        const names = [...new Set(streams.map(({ name }) => name))];
        const found = await recheckChannels(first.principal, names, hub.loseBehind);
        for (const stream of streams) {
          const state = found.get(stream.name);
          if (state === "denied") stream.close("revoked");
          else if (state === "ended") stream.endBy(now() + endGraceMs, "ended");
        }
      } catch {
        count("authority_rechecks_failed", null);
      }
    }
    isReopening = false;
  }

  function closeUnconfirmed(): void {
    const nowMs = now();
    for (const stream of streams) {
      if (nowMs - stream.confirmedMs >= 2 * recheckMs) stream.endBy(nowMs + 2 * recheckMs * random(), "revoked");
    }
  }
}
