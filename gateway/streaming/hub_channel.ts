import { AppError } from "../../shared/app_error.ts";
import type { Chunk } from "./encoded_chunk.ts";

/** Who receives a channel's events: one open stream. Neither method may throw, publish or wait. */
export interface HubMember {
  /** Its last event is a terminal one: `end("ended")` follows it at once. */
  readonly endsAfterTerminalEvent: boolean;
  deliver(chunk: Chunk, nowMs: number): void;
  /** `lost`: an event may have been missed. `ended`: every channel of the member had its terminal event. */
  end(reason: "lost" | "ended"): void;
}

/** One reference to each of some channels, so that their upstream subscriptions stay. */
export interface Hold {
  /**
   * From now on the member gets everything. Throws `AppError("unavailable")` when a subscription was lost since it was
   * confirmed: the caller then opens nothing.
   */
  attach(member: HubMember): void;
  /** Lets go; the member gets nothing any more. Calling it twice is fine. */
  release(): void;
}

/** A channel has one producer, or a few. */
const maxProducers = 16;

/** One upstream subscription, from before it is confirmed until it is over. Changed by the hub alone. */
export class Channel {
  readonly name: string;
  readonly abort = new AbortController();
  confirmed: Promise<void> = Promise.resolve();
  /** References: pending and attached. */
  holds = 0;
  /** Attached members that follow this channel only. */
  readonly singles = new Set<ChannelHold>();
  /** Attached members that follow others too: their events keep the order of arrival over all of them. */
  readonly joined = new Map<ChannelHold, JoinedQueue>();
  /** Arrived in this turn. */
  frames: string[] = [];
  /** `frames` as bytes, while they are being written. */
  chunk: Chunk | null = null;
  isOver = false;
  /** The number of the last event of each producer that numbers its events, least recent first. */
  readonly #lastDeliveries = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  isHeard(): boolean {
    return this.singles.size > 0 || this.joined.size > 0;
  }

  /**
   * True for an event that this channel has had before: its producer did not get the answer, and sent it again. A
   * producer's events come in the order of their numbers.
   */
  isRepeated(deliveryId: string): boolean {
    const dot = deliveryId.lastIndexOf(".");
    const producer = deliveryId.slice(0, dot);
    const count = Number(deliveryId.slice(dot + 1));
    if (count <= (this.#lastDeliveries.get(producer) ?? -1)) return true;
    this.#lastDeliveries.delete(producer);
    this.#lastDeliveries.set(producer, count);
    const [oldest] = this.#lastDeliveries.size > maxProducers ? this.#lastDeliveries.keys() : [];
    if (oldest !== undefined) this.#lastDeliveries.delete(oldest);
    return false;
  }
}

/** What a member of several channels has in common over them. */
export class JoinedQueue {
  /** Arrived in this turn, over all channels. */
  frames: string[] = [];
  /** The only channel that `frames` came from in this turn, whose bytes can be shared; null when there were several. */
  source: Channel | null = null;
  /** Channels that had their terminal event. */
  readonly ended = new Set<Channel>();
}

/** One reference to each of its channels, and the member that their events are for. */
export class ChannelHold implements Hold {
  readonly #onIdle: (channel: Channel) => void;
  readonly channels: readonly Channel[];
  member: HubMember | null = null;
  #isReleased = false;

  constructor(onIdle: (channel: Channel) => void, channels: readonly Channel[]) {
    this.#onIdle = onIdle;
    this.channels = channels;
  }

  attach(member: HubMember): void {
    if (this.#isReleased) throw new TypeError("Cannot attach to a hold: it was released");
    if (this.channels.some((channel) => channel.isOver)) throw connectionLost();
    this.member = member;
    const [first] = this.channels;
    if (this.channels.length === 1) {
      first?.singles.add(this);
      return;
    }
    const queue = new JoinedQueue();
    for (const channel of this.channels) channel.joined.set(this, queue);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.member = null;
    for (const channel of this.channels) {
      channel.singles.delete(this);
      channel.joined.delete(this);
      channel.holds -= 1;
      if (channel.holds === 0 && !channel.isOver) this.#onIdle(channel);
    }
  }
}

export function connectionLost(): AppError {
  return unavailable("The broker's connection was lost");
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError("unavailable", message, { cause, retryAfterSeconds: 2 });
}
