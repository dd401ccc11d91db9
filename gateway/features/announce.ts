import { pause } from "../../shared/abortable.ts";
import type { Publisher } from "../../shared/send_event.ts";
import type { Log } from "../observability/log.ts";

/** A publisher too: what is announced is made from it. */
export interface AnnounceOptions extends Publisher, Attempts {}

interface Attempts {
  readonly log: Log;
  /** Pauses before each attempt, in milliseconds. */
  readonly attemptsAfterMs?: readonly number[];
  /** How long the caller waits; the attempts go on after it. */
  readonly waitMs?: number | undefined;
}

export interface Announcement {
  /** Begun in order: every adapter of the broker keeps the order of one publisher. */
  readonly publish: readonly (() => Promise<void>)[];
  /** For the log, when no attempt succeeds. */
  readonly failure: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string };
}

/** A lost answer of the broker costs another attempt; a producer waits 4 s for the answer to its request. */
const defaultAttemptsAfterMs = [0, 200, 800, 3000] as const;
const defaultWaitMs = 3000;

/** Publishes what was just stored. Never rejects: what is stored stays, and a client reads it when it reconnects. */
export async function announce(announcement: Announcement, options: Attempts): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, options.waitMs ?? defaultWaitMs);
  });
  await Promise.race([publishUntilTaken(announcement, options), waited]);
  clearTimeout(timer);
}

async function publishUntilTaken(
  { publish, failure }: Announcement,
  { log, attemptsAfterMs = defaultAttemptsAfterMs }: Attempts,
): Promise<void> {
  let pending = publish;
  let reason: unknown;
  for (const pauseMs of attemptsAfterMs) {
    if (pauseMs > 0) await pause(pauseMs, []);
    const results = await Promise.allSettled(pending.map(async (each) => each()));
    pending = pending.filter((_, index) => results[index]?.status === "rejected");
    reason = results.find((result) => result.status === "rejected")?.reason;
    if (pending.length === 0) return;
  }
  log.warn({ ...failure.fields, error: reason }, failure.message);
}
