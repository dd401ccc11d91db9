import type { GatewayAccess } from "../../command_line/gateway_access.ts";
import { createGatewayCall, problemOf } from "../../command_line/gateway_call.ts";
import { pause } from "../../shared/abortable.ts";
import { openLoadStream, type LoadStream } from "./load_stream.ts";
import { registerLoadScan, type PublishedEvents } from "./publish_events.ts";
import { createTally, type TallyFigures } from "./tally.ts";

export interface LoadOptions {
  readonly access: GatewayAccess;
  readonly streams: number;
  /** Resolves when the streams have been held for long enough; called when all are open, or refused. */
  readonly hold: () => Promise<void>;
  /** Followed by every stream; null: the tenant's stream, or what is published. */
  readonly scanId: string | null;
  /** Events a second that the run publishes itself; 0: none. */
  readonly publish: number;
  /** How long an event that the gateway could not take is sent again, in milliseconds. Default: 0. */
  readonly publishRetryMs?: number;
  /** Ends the run early; what was measured is reported. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export interface LoadReport extends TallyFigures {
  readonly streams: number;
  /** Open when every first request was answered. */
  readonly open_at_start: number;
  /** Open at the end, before they were closed. */
  readonly open_at_end: number;
  readonly opening_seconds: number;
  readonly held_seconds: number;
  /** Null: nothing was published by the run, so that loss is not known. */
  readonly published: number | null;
  /** Why publishing ended before the time was over. */
  readonly publish_problem: string | null;
}

/** Heads that are waited for at one time. */
const concurrentOpenings = 200;
const callTimeoutMs = 10_000;
/** In which the last events arrive. */
const settleMs = 5000;

/** Opens the streams, holds them, and closes them. Rejects when nothing could be published, and before a stream was opened. */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const { access, streams: count, signal, log } = options;
  const call = createGatewayCall({ url: access.gatewayUrl, apiKey: access.apiKey, timeoutMs: callTimeoutMs });
  const published = options.publish > 0 ? await registerLoadScan(call, signal) : null;
  const scanId = published?.scanId ?? options.scanId;
  const path = scanId === null ? "/api/v1/event-stream" : `/api/v1/scans/${scanId}/event-stream`;
  const tally = createTally();
  const streams: LoadStream[] = [];
  const openStream = () => {
    const stream = openLoadStream({
      url: new URL(path, access.gatewayUrl),
      credentials: { apiKey: access.apiKey },
      tally,
      published,
    });
    streams.push(stream);
    return stream;
  };

  log(`Opening ${count} streams of ${path}`);
  const startMs = performance.now();
  await openAll(openStream, count, signal);
  const openedMs = performance.now();
  const open = () => streams.filter(({ isOpen }) => isOpen).length;
  const openAtStart = open();
  log(`${openAtStart} of ${streams.length} streams are open`);
  const publishProblem = await holdAndPublish(options, published);
  const heldMs = performance.now() - openedMs;
  await settle(streams, signal);
  const openAtEnd = open();
  await Promise.all(streams.map((stream) => stream.close()));
  // Streams of it are closed: its end is no event of theirs. A gateway that is gone ends it by itself.
  await published?.end().catch(() => undefined);
  return {
    streams: count,
    open_at_start: openAtStart,
    open_at_end: openAtEnd,
    opening_seconds: toSeconds(openedMs - startMs),
    held_seconds: toSeconds(heldMs),
    published: published?.last() ?? null,
    publish_problem: publishProblem,
    ...tally.figures(),
  };
}

/** Resolves when every stream's first request was answered. */
async function openAll(openStream: () => LoadStream, count: number, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  let begun = 0;
  const work = async () => {
    while (begun < count && !signal.aborted) {
      begun += 1;
      await Promise.race([openStream().answered, stopped]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, concurrentOpenings) }, work));
}

/** Resolves when the time is over, with why publishing ended before. */
async function holdAndPublish(
  { hold, publish, publishRetryMs, signal }: LoadOptions,
  published: PublishedEvents | null,
): Promise<string | null> {
  const over = new AbortController();
  const publishing = published?.publish(publish, AbortSignal.any([signal, over.signal]), publishRetryMs).then(
    () => null,
    (error: unknown) => problemOf(error),
  );
  await hold();
  over.abort();
  return (await publishing) ?? null;
}

/** Waits until every open stream has received the last event, at most for a while. */
async function settle(streams: readonly LoadStream[], signal: AbortSignal): Promise<void> {
  const untilMs = performance.now() + settleMs;
  const isDone = () => streams.every(({ isOpen, isComplete }) => !isOpen || isComplete);
  while (!isDone() && performance.now() < untilMs && !signal.aborted) await pause(20, [signal]);
}

function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
