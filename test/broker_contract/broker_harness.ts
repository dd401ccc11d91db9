import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { AppError } from "../../shared/app_error.ts";
import type { Broker, LostReason, Subscriber } from "../../shared/broker.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import { encodeEvent, toMessage } from "../../shared/event.ts";
import type { TcpProxy } from "../support/tcp_proxy.ts";

/** One case's view of one kind of broker. Whatever it makes is closed with it. */
export interface BrokerHarness {
  /** A broker with connections of its own, as another process would have it, reached through `network`. */
  readonly createBroker: (timing?: Timing) => Broker;
  /** The same past `network`: it goes on when that is broken. */
  readonly createDirectBroker: () => Broker;
  /** With credentials that the server refuses; null where there are none. */
  readonly createRefusedBroker: () => Broker | null;
  /** No other case has it. */
  readonly channel: string;
  /** How many subscriptions of the channel the server has now. Null: there is no server. */
  readonly upstreamCount: ((channel: string) => Promise<number>) | null;
  /** Null: there is no network between. */
  readonly network: TcpProxy | null;
  /** Texts that no error may show. */
  readonly secrets: readonly string[];
  readonly close: () => Promise<void>;
}

/** `short`: every timeout is a fraction of a second. */
export type Timing = "default" | "short";

export type OpenHarness = () => Promise<BrokerHarness>;

export function createChannel(): string {
  return makeChannelName("scan", randomUUID(), randomUUID());
}

/** A message that every broker carries. */
export function eventMessage(fields: Readonly<Record<string, string | number>>): string {
  return toMessage(encodeEvent("scan.progress", fields));
}

/** Subscribes and records everything that is received, in order; resolves when the subscription is confirmed. */
export async function record(subscriber: Subscriber, channel: string) {
  const leaving = new AbortController();
  const messages: string[] = [];
  const lost: LostReason[] = [];
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  await subscriber.subscribe(
    channel,
    {
      onMessage(message) {
        messages.push(message);
        change();
      },
      onLost(reason) {
        lost.push(reason);
        change();
      },
    },
    leaving.signal,
  );
  return {
    messages: messages as readonly string[],
    lost: lost as readonly LostReason[],
    /** Resolves when this number of messages has arrived. */
    async untilCount(count: number) {
      while (messages.length < count) {
        assert.deepEqual(lost, [], "the subscription was lost while messages were waited for");
        await changed.promise;
      }
    },
    async untilLost() {
      for (;;) {
        const [reason] = lost;
        if (reason !== undefined) return reason;
        await changed.promise;
      }
    },
    leave: () => leaving.abort(),
  };
}

/** The failure that the port promises, which shows no secret. */
export async function unavailability(promise: Promise<unknown>, secrets: readonly string[]): Promise<AppError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AppError, `expected an AppError, got ${inspect(error)}`);
  assert.equal(error.code, "unavailable");
  assert.ok((error.retryAfterSeconds ?? 0) > 0, "has a retry delay");
  const shown = inspect(error, { depth: 20, showHidden: true }) + String(error.stack);
  for (const secret of secrets) assert.ok(!shown.includes(secret), `the error shows a secret: ${shown}`);
  return error;
}
