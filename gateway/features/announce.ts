import type { Context } from "hono";
import type { Database } from "../../drizzle/database.ts";
import { pause } from "../../shared/abortable.ts";
import { makeChannelName, parseChannelName } from "../../shared/channel_name.ts";
import type { Publisher } from "../../shared/send_event.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import type { FeatureDependencies } from "./features.ts";

export const tenantPrefix = "tenant";

/** The channel of everything that a tenant has. */
export function tenantChannel(tenantId: string): string {
  return makeChannelName(tenantPrefix, tenantId, tenantId);
}

/** Publishes each event on the channel of its tenant, too. */
export function alsoToTenant({ sendEvent }: Publisher): Publisher {
  return {
    async sendEvent(channel, type, payload) {
      const tenantId = parseChannelName(channel)?.tenantId ?? "";
      await Promise.all([channel, tenantChannel(tenantId)].map((each) => sendEvent(each, type, payload)));
    },
  };
}

export interface AnnounceOptions extends Pick<FeatureDependencies, "log" | "sendEvent"> {
  /** Pauses before each attempt, in milliseconds. */
  readonly attemptsAfterMs?: readonly number[];
}

/** A lost answer of the broker costs another attempt; a producer waits 4 s for the answer to its request. */
const defaultAttemptsAfterMs = [0, 200, 800, 3000] as const;
/** The attempts go on after it. */
const waitMs = 3000;

/**
 * Publishes what was just stored, in the order of the calls: every adapter of the broker keeps the order of one publisher. Never
 * rejects: what is stored stays, and a client reads it when it reconnects. Takes at most 3 s, whatever the broker does.
 */
export function announcing(options: AnnounceOptions): Publisher {
  return {
    sendEvent: (channel, type, payload) => retry(options, channel, () => options.sendEvent(channel, type, payload)),
  };
}

async function retry(
  { log, attemptsAfterMs = defaultAttemptsAfterMs }: AnnounceOptions,
  about: string,
  publish: () => Promise<void>,
): Promise<void> {
  await withTimeout(attempt(), waitMs).catch(() => undefined);

  async function attempt(): Promise<void> {
    let error: unknown;
    for (const pauseMs of attemptsAfterMs) {
      if (pauseMs > 0) await pause(pauseMs, []);
      try {
        return await publish();
      } catch (failure) {
        error = failure;
      }
    }
    log.warn({ about, error }, "an event of what was stored could not be published");
  }
}

/** This many are published concurrently: one slow answer of the broker does not delay the others. */
const announcedAtOnce = 50;

export async function announceAll<Row>(
  rows: readonly Row[],
  announceOne: (row: Row) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += announcedAtOnce) {
    await Promise.all(rows.slice(start, start + announcedAtOnce).map(announceOne));
  }
}

/** Lets work that never rejects go on after the response: Workers end what a request has not announced when it is answered. */
export function afterResponse(c: Context, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Only Workers have this context; elsewhere the work continues by itself.
  }
}

/** When each resource was last published, or will be, the least recent first. The database stands for the gateway, because its features share it. */
const publishedAt = new WeakMap<Database, Map<string, number>>();
const everyMs = 1000;

/**
 * Reads and publishes at once, or, for what changes within the next second, once at the end of it: no update of one resource is
 * published sooner than a second after the last. Resolves when what this call has to publish was published, and never rejects.
 */
export async function announceThrottled(
  { database, ...options }: FeatureDependencies,
  key: string,
  publish: () => Promise<void>,
): Promise<void> {
  const times = publishedAt.get(database) ?? new Map<string, number>();
  publishedAt.set(database, times);
  const nowMs = performance.now();
  for (const [other, atMs] of times) {
    if (atMs > nowMs - everyMs) break;
    times.delete(other);
  }
  const lastMs = times.get(key) ?? -Infinity;
  // A publication that waits reads the resource then. When its request is cancelled, a request after that moment takes it over.
  if (lastMs > nowMs) return;
  times.delete(key);
  times.set(key, Math.max(nowMs, lastMs + everyMs));
  await pause(Math.max(0, lastMs + everyMs - nowMs), []);
  // Timers may be a little early: from now on a change is not in what is read.
  times.set(key, performance.now());
  await retry(options, key, publish);
}
