import { AppError } from "../../shared/app_error.ts";
import { parseChannelName, type ChannelName } from "../../shared/channel_name.ts";
import { fitsChannel, isTerminalEventType, terminalTypeOf, type EncodedEvent } from "../../shared/event.ts";
import { isJsonObject } from "../../shared/json.ts";
import type { Chunk } from "./encoded_chunk.ts";
import type { StoredNumber } from "./published.ts";

/** What receives a channel's events: one open stream. Neither method may throw, publish or wait. */
export interface HubMember {
  deliver(chunk: Chunk, nowMs: number): void;
  /** `lost`: an event may have been missed. `ended`: every channel of the member had its terminal event. */
  end(reason: "lost" | "ended"): void;
}

/** A channel has one producer, or a few. */
const maxProducers = 16;
/** Numbers of a producer that may still arrive. */
const maxMissing = 1000;
/** A stored event arrives within this time, or not at all. */
const deliveryGraceMs = 5000;
/** What was published of a resource before its end arrives within seconds of it. */
const maxEndedResources = 1024;

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
  /** By producer that numbers its events, least recent first: the last number, and those before it that did not arrive. */
  readonly #deliveries = new Map<string, { readonly last: number; readonly missing: Set<number> }>();

  /** Resources that had their terminal event here, other than the channel's own: least recent first. */
  readonly #endedResources = new Set<string>();
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
  isRepeated(deliveryId: string): boolean {
    const dot = deliveryId.lastIndexOf(".");
    const producer = deliveryId.slice(0, dot);
    const sequence = Number(deliveryId.slice(dot + 1));
    const known = this.#deliveries.get(producer);
    const { last, missing } = known ?? { last: sequence - 1, missing: new Set<number>() };
    if (sequence <= last) return !missing.delete(sequence);
    for (let n = Math.max(last + 1, sequence - maxMissing); n < sequence; n += 1) missing.add(n);
    for (const oldest of missing) if (missing.size > maxMissing) missing.delete(oldest);
    this.#deliveries.delete(producer);
    this.#deliveries.set(producer, { last: sequence, missing });
    const [oldest] = this.#deliveries.size > maxProducers ? this.#deliveries.keys() : [];
    if (oldest !== undefined) this.#hasForgotten = this.#deliveries.delete(oldest);
    return false;
  }

  /** The first member attaches: what was published before concerns nobody. */
  begin(): void {
    this.#sinceMs = performance.now();
    this.#hasForgotten = false;
    this.#deliveries.clear();
  }

  /** True when an event that was stored some seconds ago has not arrived here, although members were attached by then. */
  isBehind({ producer, lastN, ageMs, lostAgeMs }: StoredNumber): boolean {
    const attachedForMs = performance.now() - this.#sinceMs;
    if (lostAgeMs !== null && lostAgeMs < attachedForMs) return true;
    if (ageMs < deliveryGraceMs) return false;
    const known = this.#deliveries.get(producer);
    if (known === undefined) return ageMs < attachedForMs && !this.#hasForgotten;
    // A number above the stored one was stored after the look, and may be on its way.
    return known.last < lastN || [...known.missing].some((n) => n <= lastN);
  }

  /**
   * True for an event about a resource whose terminal event has passed, except its deletion: several processes publish on a
   * channel that outlives its resources, and the state that one of them has read may arrive after the end that another stored.
   */
  isAfterEnd({ type, data }: EncodedEvent): boolean {
    const isTerminal = isTerminalEventType(type);
    if (!isTerminal && this.#endedResources.size === 0) return false;
    const [resource = ""] = type.split(".");
    const payload: unknown = JSON.parse(data);
    const id = isJsonObject(payload) ? payload[`${resource}_id`] : undefined;
    if (typeof id !== "string" || id === this.#parsed?.resourceId) return false;
    const key = `${resource}:${id}`;
    if (this.#endedResources.has(key)) return type !== `${resource}.deleted`;
    if (!isTerminal) return false;
    this.#endedResources.add(key);
    const [oldest] = this.#endedResources.size > maxEndedResources ? this.#endedResources : [];
    if (oldest !== undefined) this.#endedResources.delete(oldest);
    return false;
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
