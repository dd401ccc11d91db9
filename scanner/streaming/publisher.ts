import { randomUUID } from "node:crypto";
import { pause } from "../../shared/abortable.ts";
import { GatewayRefusal, isTimeout, problemOf, type NumberedEvent } from "../../shared/client/gateway_client.ts";
import type { CheckedEvent } from "../../shared/event.ts";

/** Events on their way to the gateway, oldest first: a list and a cursor. */
export interface EventQueue<Item> {
  /** The oldest that are not settled. */
  first(max: number): readonly Item[];
  /** Takes the oldest out: the gateway has stored them, or will never. */
  settle(items: readonly Item[]): void;
}

/** A scan or a monitor, and the requests that keep it at the gateway. */
export interface PublishedResource<Item> {
  readonly kind: "scan" | "monitor";
  readonly queue: EventQueue<Item>;
  readonly heartbeatMs: number;
  readonly toEvent: (item: Item) => CheckedEvent;
  /** `A finding of V-273186`, for the warning that it was refused. */
  readonly nameOf: (item: Item) => string;
  register(signal: AbortSignal): Promise<void>;
  publish(batch: readonly NumberedEvent[], signal: AbortSignal): Promise<unknown>;
  /** Sends the present state: at each heartbeat, and when it was requested. */
  update(signal: AbortSignal): Promise<void>;
  /** Sends the end, which is the last request. */
  end(signal: AbortSignal): Promise<void>;
  /** True for a refusal because the gateway has no such resource any more. The resource has said so then. */
  isGone(error: unknown, signal: AbortSignal): boolean | Promise<boolean>;
}

export interface Publisher {
  /** There are items in the queue. */
  wake(): void;
  /** The state has news: it is sent after the items in the queue. */
  requestUpdate(): void;
  /** Sends what waits, then the end. Resolves when it was accepted (true), or was given up: nothing was accepted for so long. */
  end(timeoutMs: number): Promise<boolean>;
  /** Warns once that the live view has an outage. */
  warnOfOutage(error: unknown): void;
  /** Aborts when the end was requested. */
  readonly ending: AbortSignal;
}

/** Below the 500 events and 1 MiB that the gateway accepts at once. */
const maxBatchEvents = 500;
const maxBatchBytes = 1_000_000;
/** After a refusal, which a person must mend: a key, a proxy. */
const refusedPauseMs = 60_000;
/** Failures in a row after which a gateway that never responded is given up at the end. */
const maxRegistrationFailures = 3;

/**
 * Registers a resource at the gateway, publishes its events there, keeps it alive and ends it. Events go out in order, one batch in
 * flight, and each under its number, so that the gateway stores it once however often it is sent.
 *
 * Nothing here slows or fails the caller (V5): an outage costs the live view until the gateway answers again.
 */
export function createPublisher<Item>(resource: PublishedResource<Item>, warn: (message: string) => void): Publisher {
  const { kind, queue } = resource;
  const abandoned = new AbortController();
  const ending = new AbortController();
  const producer = randomUUID();
  let sent = 0;
  let isRegistered = false;
  let isGone = false;
  let isUpdateDue = false;
  let isEndAccepted = false;
  let hasWarnedOfOutage = false;
  let giveUp: ReturnType<typeof setTimeout> | null = null;
  let awake = Promise.withResolvers<void>();
  const heartbeat = setInterval(requestUpdate, resource.heartbeatMs);
  heartbeat.unref();
  const finished = run().finally(() => clearInterval(heartbeat));

  return {
    wake,
    requestUpdate,
    async end(timeoutMs) {
      ending.abort();
      wake();
      giveUp = setTimeout(() => abandoned.abort(), timeoutMs);
      await finished;
      clearTimeout(giveUp);
      return isEndAccepted;
    },
    warnOfOutage,
    ending: ending.signal,
  };

  function wake(): void {
    if (isGone) queue.settle(queue.first(Number.POSITIVE_INFINITY));
    awake.resolve();
  }

  function requestUpdate(): void {
    isUpdateDue = true;
    wake();
  }

  /** Never rejects: what cannot be sent is a warning. A monitor tries again after a refusal, because it runs for months. */
  async function run(): Promise<void> {
    for (;;) {
      try {
        await publishAll();
        isEndAccepted = true;
        return;
      } catch (error) {
        if (await resource.isGone(error, abandoned.signal)) {
          isGone = true;
          wake();
          return;
        }
        const isEnding = ending.signal.aborted;
        if (isEnding || kind === "scan") {
          const problem = abandoned.signal.aborted ? "it does not answer" : problemOf(error);
          const what = isEnding ? "Stopped trying to reach the gateway" : `The ${kind} continues without its live view`;
          warn(`${what}; the ${kind} is not ${isRegistered ? "complete" : "registered"} at the gateway: ${problem}`);
          return;
        }
        warnOfOutage(error);
        isUpdateDue = true;
        await pause(refusedPauseMs, [ending.signal]);
      }
    }
  }

  async function publishAll(): Promise<void> {
    if (!isRegistered) await untilAccepted((signal) => resource.register(signal));
    isRegistered = true;
    for (;;) {
      // Read before the queue: nothing follows the end, but more items may arrive while requests are in flight.
      const isEnding = ending.signal.aborted;
      for (let items = queue.first(maxBatchEvents); items.length > 0; items = queue.first(maxBatchEvents))
        await send(items);
      // After the items: a client that reads the state finds what explains it.
      if (isUpdateDue) {
        isUpdateDue = false;
        await untilAccepted((signal) => resource.update(signal));
      }
      if (isEnding) return untilAccepted((signal) => resource.end(signal));
      if (isUpdateDue || ending.signal.aborted || queue.first(1).length > 0) continue;
      await awake.promise;
      awake = Promise.withResolvers<void>();
    }
  }

  /** Sends a batch that is too large or refused in halves, so that only the item that the gateway refuses is lost. */
  async function send(items: readonly Item[]): Promise<void> {
    const batch = items.map((item, index): NumberedEvent => {
      const { type, payload } = resource.toEvent(item);
      return { type, data: payload, delivery_id: `${producer}.${sent + 1 + index}` };
    });
    const [first, second] = items;
    try {
      const isTooLarge = second !== undefined && Buffer.byteLength(JSON.stringify(batch)) > maxBatchBytes;
      if (isTooLarge) throw new GatewayRefusal(413, "The batch is too large");
      await untilAccepted((signal) => resource.publish(batch, signal));
      sent += items.length;
      queue.settle(items);
    } catch (error) {
      if (!isRefusedBody(error) || first === undefined) throw error;
      if (second === undefined) {
        queue.settle(items);
        warn(`${resource.nameOf(first)} was not stored at the gateway: ${problemOf(error)}`);
        return;
      }
      const half = Math.ceil(items.length / 2);
      await send(items.slice(0, half));
      await send(items.slice(half));
    }
  }

  /** Rejects on a permanent refusal, and when the resource was given up. */
  async function untilAccepted<Answer>(request: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    for (let failures = 1; ; failures += 1) {
      abandoned.signal.throwIfAborted();
      try {
        const answer = await request(abandoned.signal);
        giveUp?.refresh();
        if (hasWarnedOfOutage && kind === "monitor") {
          hasWarnedOfOutage = false;
          warn("The gateway answers again; the live view continues");
        }
        return answer;
      } catch (error) {
        if (abandoned.signal.aborted || isPermanent(error)) throw error;
        // One that does not answer has had its time; one that is restarted comes back at once.
        if (failures > 1 || isTimeout(error)) warnOfOutage(error);
        const isEnding = ending.signal.aborted;
        if (isEnding && !isRegistered && failures >= maxRegistrationFailures) throw error;
        const signals = isEnding ? [abandoned.signal] : [abandoned.signal, ending.signal];
        await pause(retryDelayMs(failures, isEnding), signals);
      }
    }
  }

  function warnOfOutage(error: unknown): void {
    if (hasWarnedOfOutage) return;
    hasWarnedOfOutage = true;
    const services = kind === "scan" ? "gateway or broker" : "gateway";
    warn(`The ${kind} continues without its live view until the ${services} answers again: ${problemOf(error)}`);
  }
}

const retryDelaysMs = [250, 1000, 2000, 4000] as const;
/** This many failures in a row are an outage, with calmer retries. */
const outageFailures = 8;
const outageRetryMs = 15_000;

/** The backoff after this many failures in a row, from 1 on. */
export function retryDelayMs(failures: number, isEnding: boolean): number {
  if (failures >= outageFailures && !isEnding) return outageRetryMs;
  return retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
}

/** 4xx but 429: a retry would be refused as well. */
export function isPermanent(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus < 500 && error.httpStatus !== 429;
}

export function hasEnded(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 409;
}

/** Checks the gateway's own words, because a 404 may be a proxy's, too. */
export function isMissing(error: unknown, kind: PublishedResource<never>["kind"]): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 404 && error.message.includes(`No such ${kind}`);
}

/** The gateway does not take this body, whenever it is sent; it may take another. */
function isRefusedBody(error: unknown): boolean {
  return error instanceof GatewayRefusal && (error.httpStatus === 422 || error.httpStatus === 413);
}
