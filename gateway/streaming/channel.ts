import { AppError } from "../../shared/app_error.ts";
import { parseChannelName, type ChannelName } from "../../shared/channel_name.ts";
import { fitsChannel, terminalTypeOf, type EncodedEvent } from "../../shared/event.ts";
import type { Chunk } from "./encoded_chunk.ts";
import type { StoredNumber } from "./published.ts";

/** Receives a channel's events: one open stream. Neither method may throw, publish or wait. */
export interface HubMember {
  deliver(chunk: Chunk, nowMs: number): void;
  /** `lost`: an event may have been missed. `ended`: every channel of the member had its terminal event. */
  end(reason: "lost" | "ended"): void;
}

/** A channel has one producer, or a few. */
const maxProducers = 16;
/** Events that may still arrive. */
const maxMissing = 1000;
/** A stored event arrives within this time, or not at all. */
const deliveryGraceMs = 5000;

/** One upstream subscription, from before it is confirmed until it is over. Changed by the hub alone. */
export class Channel {
  readonly name: string;
  readonly abort = new AbortController();
  confirmed: Promise<void> = Promise.resolve();
  /** Leases that refer to it, pending or attached. */
  refCount = 0;
  /** Attached leases. */
  readonly members = new Set<SubscriptionLease>();
  /** When the first of the members attached. */
  #sinceMs = 0;
  /** There were more producers than are remembered. */
  #hasForgotten = false;
  /** Not written yet. */
  frames: string[] = [];
  isOver = false;
  /** Settles when the channel has learned how far its events were stored. Null: nobody has asked. */
  numbered: Promise<void> | null = null;
  /** Ends the members when a hole is not filled. */
  holeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Gives up the subscription when nobody has come back. */
  lingerTimer: ReturnType<typeof setTimeout> | undefined;
  /** The last number of each producer that numbers its events, least recent first. */
  readonly #lastNumbers = new Map<string, number>();
  /** Events before those, which did not arrive: since when, oldest first. */
  readonly #missing = new Map<string, number>();
  /** Events that arrived before the channel had learned the numbers. Null: it has. */
  #early: Set<string> | null = null;
  readonly #parsed: ChannelName | null;
  readonly #terminalType: string | null;

  constructor(name: string) {
    this.name = name;
    this.#parsed = parseChannelName(name);
    this.#terminalType = this.#parsed === null ? null : terminalTypeOf(this.#parsed.prefix);
  }

  /** Empty for a name that is no channel's. */
  get tenantId(): string {
    return this.#parsed?.tenantId ?? "";
  }

  /** Returns `own` for the event that ends this channel's streams, and `foreign` for one that only claims to. */
  endOf(event: EncodedEvent): "own" | "foreign" | null {
    if (this.#parsed === null || event.type !== this.#terminalType) return null;
    return fitsChannel(this.#parsed, event) ? "own" : "foreign";
  }

  /**
   * True for an event that was already received: its producer got no reply and retried. An event that arrives after a later one of
   * its producer is none: two processes of the gateway may hand over what they stored in another order.
   */
  isRepeated(deliveryId: string, nowMs: number): boolean {
    if (this.#early !== null) return this.#early.size === this.#early.add(deliveryId).size;
    const dot = deliveryId.lastIndexOf(".");
    const producer = deliveryId.slice(0, dot);
    const n = Number(deliveryId.slice(dot + 1));
    const last = this.#lastNumbers.get(producer) ?? n - 1;
    if (n <= last) return !this.#missing.delete(`${producer}.${n}`);
    for (let lacking = Math.max(last + 1, n - maxMissing); lacking < n; lacking += 1)
      this.#missing.set(`${producer}.${lacking}`, nowMs);
    for (const oldest of this.#missing.keys()) if (this.#missing.size > maxMissing) this.#missing.delete(oldest);
    this.#setLast(producer, n);
    return false;
  }

  /** When it was first seen that events are missing which may still arrive; null when none are. */
  get holeSinceMs(): number | null {
    const [sinceMs = null] = this.#missing.values();
    return sinceMs;
  }

  /** The first member attaches: what was published before concerns nobody. */
  begin(): void {
    this.#sinceMs = performance.now();
    this.#hasForgotten = false;
    this.#lastNumbers.clear();
    this.#missing.clear();
    this.#early = new Set();
    this.numbered = null;
  }

  /** Takes how far the events were stored at a time after `begin`, the latest first: everything after that arrives, or is missing. */
  learn(stored: readonly StoredNumber[], nowMs: number): void {
    for (const { producer, lastN } of stored.toReversed())
      if (!this.#lastNumbers.has(producer)) this.#setLast(producer, lastN);
    const early = this.#early ?? [];
    this.#early = null;
    for (const deliveryId of early) this.isRepeated(deliveryId, nowMs);
  }

  /** True when an event that was stored some seconds ago has not arrived here, although members were attached by then. */
  isBehind({ producer, lastN, ageMs, lostAgeMs }: StoredNumber): boolean {
    const attachedForMs = performance.now() - this.#sinceMs;
    if (lostAgeMs !== null && lostAgeMs < attachedForMs) return true;
    if (ageMs < deliveryGraceMs || this.#early !== null) return false;
    const last = this.#lastNumbers.get(producer);
    return last === undefined ? ageMs < attachedForMs && !this.#hasForgotten : last < lastN;
  }

  #setLast(producer: string, n: number): void {
    this.#lastNumbers.delete(producer);
    this.#lastNumbers.set(producer, n);
    const [oldest] = this.#lastNumbers.size > maxProducers ? this.#lastNumbers.keys() : [];
    if (oldest !== undefined) this.#hasForgotten = this.#lastNumbers.delete(oldest);
  }
}

/** A reference to each of some channels, which keeps their upstream subscriptions, and the member that receives their events. */
export class SubscriptionLease {
  readonly #onIdle: (channel: Channel) => void;
  readonly channels: readonly Channel[];
  member: HubMember | null = null;
  #isReleased = false;

  constructor(onIdle: (channel: Channel) => void, channels: readonly Channel[]) {
    this.#onIdle = onIdle;
    this.channels = channels;
  }

  /** From now on the member receives every event. Throws `AppError("unavailable")` when a subscription was lost in the meantime. */
  attach(member: HubMember): void {
    if (this.#isReleased) throw new TypeError("Cannot attach to a lease: it was released");
    if (this.channels.some((channel) => channel.isOver)) throw connectionLost();
    this.member = member;
    for (const channel of this.channels) {
      if (channel.members.size === 0) channel.begin();
      channel.members.add(this);
    }
  }

  /** The channel had its terminal event: the member receives nothing more of it. True when that was the last channel. */
  endChannel(channel: Channel): boolean {
    channel.members.delete(this);
    return this.channels.every(({ members }) => !members.has(this));
  }

  /** The member receives nothing more. Calling it twice is fine. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.member = null;
    for (const channel of this.channels) {
      channel.members.delete(this);
      channel.refCount -= 1;
      if (channel.refCount === 0 && !channel.isOver) this.#onIdle(channel);
    }
  }
}

export function connectionLost(): AppError {
  return unavailable("The broker's connection was lost");
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError("unavailable", message, { cause, retryAfterSeconds: 2 });
}
