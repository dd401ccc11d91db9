import type { Context } from "hono";
import { pause } from "../../shared/abortable.ts";
import type { Database } from "../../drizzle/database.ts";
import type { FeatureDependencies } from "./features.ts";
import type { Publisher } from "../../shared/send_event.ts";
import type { Log } from "../observability/log.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import { createSteadyClock } from "../../shared/steady_clock.ts";
import { withTimeout } from "../../shared/with_timeout.ts";

export const tenantPrefix = "tenant";

/** The channel of everything that a tenant has. */
export function tenantChannel(tenantId: string): string {
  return makeChannelName(tenantPrefix, tenantId, tenantId);
}

/** A publisher too: the events are made from it. */
export interface AnnounceOptions extends Publisher {
  readonly log: Log;
  /** Pauses before each attempt, in milliseconds. */
  readonly attemptsAfterMs?: readonly number[];
}

/** Sends one event on a channel: a publish function with its payload. */
export type Send = (channel: string) => Promise<void>;

/** A lost answer of the broker costs another attempt; a producer waits 4 s for the answer to its request. */
const defaultAttemptsAfterMs = [0, 200, 800, 3000] as const;
/** The attempts go on after it. */
const waitMs = 3000;

/**
 * Publishes what was just stored on each of the channels, in order: every adapter of the broker keeps the order of one publisher.
 * Never rejects: what is stored stays, and a client reads it when it reconnects. Takes at most 3 s, whatever the broker does.
 */
export async function announce(
  options: Pick<AnnounceOptions, "log" | "attemptsAfterMs">,
  channels: readonly string[],
  ...events: readonly Send[]
): Promise<void> {
  const sends = channels.flatMap((channel) => events.map((send) => ({ channel, send })));
  await withTimeout(publishUntilTaken(options, sends), waitMs).catch(() => undefined);
}

async function publishUntilTaken(
  { log, attemptsAfterMs = defaultAttemptsAfterMs }: Pick<AnnounceOptions, "log" | "attemptsAfterMs">,
  sends: readonly { readonly channel: string; readonly send: Send }[],
): Promise<void> {
  let pending = sends;
  let error: unknown;
  for (const pauseMs of attemptsAfterMs) {
    if (pauseMs > 0) await pause(pauseMs, []);
    const results = await Promise.allSettled(pending.map(async ({ channel, send }) => send(channel)));
    pending = pending.filter((_, index) => results[index]?.status === "rejected");
    error = results.find((result) => result.status === "rejected")?.reason;
    if (pending.length === 0) return;
  }
  const channels = [...new Set(pending.map(({ channel }) => channel))];
  log.warn({ channels, error }, "events of what was stored could not be published");
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
    // No such context elsewhere: it goes on by itself.
  }
}

const pacesOf = new WeakMap<Database, ReturnType<typeof createPaces>>();

/**
 * Publishes at once, or, for what changes within the next second, once at the end of it: no update of one resource is published
 * sooner than a second after the last, whichever feature has changed it. Resolves when what this call has to publish was published.
 */
export async function announcePaced(
  { database, nowMs }: Pick<FeatureDependencies, "database" | "nowMs">,
  key: string,
  publish: () => Promise<void>,
): Promise<void> {
  const paces = pacesOf.get(database) ?? createPaces(nowMs);
  pacesOf.set(database, paces);
  if (await paces.hasTurn(key)) await publish();
}

const everyMs = 1000;
/** Its publication may take this long before another request takes it over: the request that waits may be cancelled. */
const abandonedAfterMs = 1000;

interface Pace {
  /** No update of the resource is published sooner. */
  readonly nextAtMs: number;
  /** An update waits for that moment, and reads the resource then. */
  isWaiting: boolean;
}

function createPaces(clock: () => number) {
  const nowMs = createSteadyClock(clock);
  /** Least recent first. */
  const paces = new Map<string, Pace>();
  return { hasTurn };

  /** Resolves when the update may be published; with false where another one waits, which reads the resource later. */
  async function hasTurn(key: string): Promise<boolean> {
    const startedMs = nowMs();
    const pace = paces.get(key);
    if (pace === undefined || pace.nextAtMs + abandonedAfterMs < startedMs) {
      allowNext(key, startedMs);
      return true;
    }
    if (pace.isWaiting) return false;
    pace.isWaiting = true;
    await pause(Math.max(0, pace.nextAtMs - startedMs), []);
    allowNext(key, nowMs());
    return true;
  }

  function allowNext(key: string, atMs: number): void {
    paces.delete(key);
    paces.set(key, { nextAtMs: atMs + everyMs, isWaiting: false });
    for (const [other, { nextAtMs }] of paces) {
      if (nextAtMs + abandonedAfterMs >= atMs) return;
      paces.delete(other);
    }
  }
}
