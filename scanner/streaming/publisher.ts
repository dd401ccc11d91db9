import { pause } from "../../shared/abortable.ts";
import type { MessagePublisher } from "../../shared/broker.ts";
import { problemOf, type RestClient } from "../../shared/client/gateway_client.ts";
import { numberEvents } from "../../shared/client/numbered_events.ts";
import { maxBatchEvents, type EventPayload } from "../../shared/event.ts";
import { GatewayRefusal, isTemporary } from "../../shared/http_refusal.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { createPublisher, type Publisher } from "../../shared/send_event.ts";
import { isTimeout } from "../../shared/with_timeout.ts";

/** Events on their way to the gateway, oldest first: a list and a cursor. */
export interface EventQueue<Item> {
  /** The oldest that are not acknowledged. */
  first(max: number): readonly Item[];
  /** Removes the oldest: the gateway has stored them, or never will. */
  acknowledge(items: readonly Item[]): void;
}

interface Outgoing<Item> {
  readonly item: Item;
  readonly message: string;
}

/** A scan or a monitor, and the requests that keep it at the gateway. */
export interface PublishedResource<Item> {
  readonly kind: "scan" | "monitor";
  readonly gateway: RestClient;
  /** Given: events go to it directly, and nobody stores them. */
  readonly broker?: MessagePublisher;
  readonly queue: EventQueue<Item>;
  readonly heartbeatMs: number;
  readonly warn: (message: string) => void;
  /** Publishes the event of an item. */
  publish(publisher: Publisher, channel: string, item: Item): Promise<void>;
  /** Called for each item that the gateway has stored. */
  readonly onStored?: (item: Item) => void;
  /** Resolves with its channel. */
  register(signal: AbortSignal): Promise<string>;
  /** Sends the present state: at each heartbeat, and when it was requested. */
  update(signal: AbortSignal): Promise<unknown>;
  /** Sends the end, which is the last request. */
  end(signal: AbortSignal): Promise<unknown>;
  /** True for a refusal because the gateway has no such resource any more. The resource has said so then. */
  isGone(error: unknown, signal: AbortSignal): boolean | Promise<boolean>;
  /** The gateway's database was restored from a backup, and lacks events that it had. Absent: it refuses what follows. */
  onRestored?(): void;
}

/** The backoff after 1, 2, … failures in a row; the last is that of an outage. */
const retryDelaysMs = [250, 1000, 2000, 4000, 4000, 4000, 4000, 15_000] as const;
/** Nobody waits longer for the end. */
const longestEndingDelayMs = 4000;
/** A gateway of another release, or a proxy, may refuse each of ten thousand. */
const maxRefusalWarnings = 5;
/** After a refusal, which a person must mend: a key, a proxy. */
const refusedPauseMs = 60_000;
/** Failures in a row after which a batch to a broker is dropped: nobody stores it, so the end waits for none. */
const maxBrokerFailures = 6;
/** Failures in a row after which a gateway that never responded is given up at the end. */
const maxRegistrationFailures = 3;

/**
 * Registers a resource at the gateway, publishes its events there, keeps it alive and ends it. Events go out in order, one batch in
 * flight, and each under its number, so that the gateway stores it once however often it is sent.
 *
 * Nothing here slows or fails the caller (V5): an outage costs the live view until the gateway answers again.
 */
export function createQueuePublisher<Item>(resource: PublishedResource<Item>) {
  const { kind, gateway, broker, queue, warn } = resource;
  const abandoned = new AbortController();
  const ending = new AbortController();
  const sendNumbered = numberEvents<Outgoing<Item>>((messages) =>
    untilAccepted((signal) => post(messages, signal), broker === undefined ? Infinity : maxBrokerFailures),
  );
  let channel: string | null = null;
  let isGone = false;
  let isUpdateDue = false;
  let isEndAccepted = false;
  let hasWarnedOfOutage = false;
  let refusedCount = 0;
  let giveUp: ReturnType<typeof setTimeout> | null = null;
  let awake = Promise.withResolvers<void>();
  const heartbeat = setInterval(requestUpdate, resource.heartbeatMs);
  heartbeat.unref();
  const finished = run().finally(() => clearInterval(heartbeat));

  return { wake, requestUpdate, end, sendLast };

  /** There are items in the queue. */
  function wake(): void {
    if (isGone) queue.acknowledge(queue.first(Infinity));
    awake.resolve();
  }

  /** The state has news: it is sent after the items in the queue. */
  function requestUpdate(): void {
    isUpdateDue = true;
    wake();
  }

  /** Sends what waits, then the end. Resolves when it was accepted (true), or was given up: nothing was accepted for so long. */
  async function end(timeoutMs: number): Promise<boolean> {
    ending.abort();
    // The end follows what waits now.
    clearInterval(heartbeat);
    wake();
    await giveUpAfter(timeoutMs, finished);
    return isEndAccepted;
  }

  /** Sends a request after the end was accepted, and repeats it as long; rejects with why it was given up. */
  function sendLast(request: () => Promise<unknown>, timeoutMs: number): Promise<void> {
    return giveUpAfter(timeoutMs, untilAccepted(request));
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
          const problem = error === abandoned.signal.reason ? "it does not answer" : problemOf(error);
          const what = isEnding ? "Stopped trying to reach the gateway" : `The ${kind} continues without its live view`;
          const lack = channel === null ? "registered" : "complete";
          return warn(`${what}; the ${kind} is not ${lack} at the gateway: ${problem}`);
        }
        warnOfOutage(error);
        isUpdateDue = true;
        await pause(refusedPauseMs, [ending.signal]);
      }
    }
  }

  async function publishAll(): Promise<void> {
    for (;;) {
      const items = queue.first(maxBatchEvents);
      if (channel === null) {
        await untilAccepted(async (signal) => {
          channel = await resource.register(signal);
        });
      } else if (items.length > 0) await send(items);
      // After the items: a client that reads the state finds what explains it.
      else if (isUpdateDue) {
        isUpdateDue = false;
        await untilAccepted((signal) => resource.update(signal));
      } else if (ending.signal.aborted) return untilAccepted((signal) => resource.end(signal));
      else {
        await awake.promise;
        awake = Promise.withResolvers<void>();
      }
    }
  }

  async function send(items: readonly Item[]): Promise<void> {
    const acknowledged: Item[] = [];
    try {
      await sendNumbered(await toBatch(items), ({ item, message }, refusal) => {
        acknowledged.push(item);
        if (refusal === null) return resource.onStored?.(item);
        if (++refusedCount > maxRefusalWarnings) return;
        const rest = refusedCount === maxRefusalWarnings ? "; what else is not stored is not named" : "";
        warn(`${nameOf(message)} was not stored at the gateway: ${problemOf(refusal)}${rest}`);
      });
    } catch (error) {
      if (resource.onRestored === undefined || !isRestored(error)) throw error;
      resource.onRestored();
    } finally {
      queue.acknowledge(acknowledged);
    }
  }

  /** Takes what `sendEvent` gives to a broker: the gateway takes it in batches. */
  async function toBatch(items: readonly Item[]): Promise<readonly Outgoing<Item>[]> {
    const batch: Outgoing<Item>[] = [];
    for (const item of items) {
      const publisher = createPublisher({ publish: async (_, message) => void batch.push({ item, message }) });
      await resource.publish(publisher, channel ?? "", item);
    }
    return batch;
  }

  function post(messages: readonly string[], signal: AbortSignal): Promise<unknown> {
    const name = channel ?? "";
    if (broker !== undefined) return Promise.all(messages.map((message) => broker.publish(name, message)));
    const body = `{"events":[${messages.join(",")}]}`;
    return gateway.send("POST", `/api/v1/channels/${encodeURIComponent(name)}/events`, { body, signal });
  }

  async function giveUpAfter(timeoutMs: number, work: Promise<unknown>): Promise<void> {
    giveUp = setTimeout(() => abandoned.abort(), timeoutMs);
    try {
      await work;
    } finally {
      clearTimeout(giveUp);
    }
  }

  /** Rejects on a permanent refusal, and when the resource was given up. */
  async function untilAccepted(
    request: (signal: AbortSignal) => Promise<unknown>,
    maxFailures = Infinity,
  ): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      try {
        await request(abandoned.signal);
        giveUp?.refresh();
        if (hasWarnedOfOutage && kind === "monitor") {
          hasWarnedOfOutage = false;
          warn("The gateway answers again; the live view continues");
        }
        return;
      } catch (error) {
        if (abandoned.signal.aborted || isPermanent(error, channel !== null)) throw error;
        // One that does not answer has had its time; one that is restarted comes back at once.
        if (failures > 1 || isTimeout(error)) warnOfOutage(error);
        const isEnding = ending.signal.aborted;
        if (isEnding && channel === null && failures >= maxRegistrationFailures) throw error;
        if (failures >= maxFailures || (isEnding && maxFailures < Infinity)) return;
        const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
        if (isEnding) await pause(Math.min(delayMs, longestEndingDelayMs), [abandoned.signal]);
        else await pause(delayMs, [abandoned.signal, ending.signal]);
        if (abandoned.signal.aborted) throw error;
      }
    }
  }

  function warnOfOutage(error: unknown): void {
    // After the end there is no live view.
    if (hasWarnedOfOutage || isEndAccepted) return;
    hasWarnedOfOutage = true;
    const services = kind === "scan" ? "gateway or broker" : "gateway";
    warn(`The ${kind} continues without its live view until the ${services} answers again: ${problemOf(error)}`);
  }
}

/** `A finding of V-273186`. */
function nameOf(message: string): string {
  const { type, data } = JSON.parse(message) as { readonly type: string; readonly data: EventPayload };
  const [resource, verb] = type.split(".");
  if (resource !== "finding") return `The event ${type}`;
  return `A ${verb === "updated" ? "change" : "finding"} of ${vulnIdOf(String(data["check"]))}`;
}

/** A retry would be refused as well. Without the gateway's words, a proxy may have refused it while the gateway is away. */
function isPermanent(error: unknown, isRegistered: boolean): boolean {
  if (!(error instanceof GatewayRefusal) || isTemporary(error.httpStatus)) return false;
  return error.detail !== null || !isRegistered || ![401, 403, 404].includes(error.httpStatus);
}

export function hasEnded(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 409;
}

/** The next event is sent under new numbers. */
function isRestored(error: unknown): boolean {
  return hasEnded(error) && problemOf(error).includes("are missing: expected");
}

/** Checks the gateway's own words, because a 404 may be a proxy's, too. */
export function isMissing(error: unknown, kind: PublishedResource<never>["kind"]): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 404 && error.message.includes(`No such ${kind}`);
}
