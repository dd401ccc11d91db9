import { AppError } from "../../shared/app_error.ts";
import type { LostReason, Subscriber } from "../../shared/broker.ts";
import { isTerminalEventType, parseMessage } from "../../shared/event.ts";
import { encodeEventFrame } from "../../shared/event_stream_encoding.ts";
import { encodeChunk, type Chunk } from "./encoded_chunk.ts";
import { Channel, ChannelHold, connectionLost, unavailable, type Hold, type JoinedQueue } from "./hub_channel.ts";
import { silentLog, type Log } from "../observability/log.ts";
import { noStreamMetrics, type StreamMetrics } from "../observability/stream_metrics.ts";

export interface HubOptions {
  readonly subscriber: Subscriber;
  /** How long a subscription outlives its last stream, so that reconnects do not thrash. Default 5,000. */
  readonly lingerMs?: number;
  /** How long the broker may take to confirm. Default 15,000: with the rest of the request it stays within 20 s. */
  readonly confirmTimeoutMs?: number;
  readonly metrics?: StreamMetrics;
  readonly log?: Log;
  readonly now?: () => number;
  /** Calls back in the next turn of the event loop; everything that arrives before is written as one chunk. */
  readonly nextTurn?: (callback: () => void) => void;
}

export interface HubStats {
  /** Channels with at least one attached member. */
  readonly channels: number;
  readonly members: number;
  /** Upstream subscriptions: being confirmed, in use, or lingering. */
  readonly subscriptions: number;
}

export interface Hub {
  /** Resolves once the broker has confirmed every channel; rejects with `AppError("unavailable")`. */
  hold(channels: readonly string[]): Promise<Hold>;
  stats(): HubStats;
  /** Ends every member with `lost` and lets go of every subscription. */
  close(): void;
}

export type { Hold, HubMember } from "./hub_channel.ts";

/** More text than this is written without waiting for the turn to end: the queue is bounded. */
const maxWaitingChars = 65_536;

/** One upstream subscription for each channel of this process, and the members that each message is handed to. */
export function createHub(options: HubOptions): Hub {
  return new SubscriptionHub(options);
}

class SubscriptionHub implements Hub {
  readonly #subscriber: Subscriber;
  readonly #lingerMs: number;
  readonly #confirmTimeoutMs: number;
  readonly #metrics: StreamMetrics;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #channels = new Map<string, Channel>();
  /** Channels without any hold, oldest first, and since when. */
  readonly #idleSince = new Map<Channel, number>();
  #lingerTimer: ReturnType<typeof setTimeout> | null = null;
  /** What has messages that were not written yet. */
  #waitingChannels: Channel[] = [];
  #waitingHolds: { readonly hold: ChannelHold; readonly queue: JoinedQueue }[] = [];
  #waitingChars = 0;
  #isClosed = false;
  readonly #flushLater = () => this.#flush();
  readonly #idled = (channel: Channel) => this.#idle(channel);

  constructor(options: HubOptions) {
    this.#subscriber = options.subscriber;
    this.#lingerMs = options.lingerMs ?? 5000;
    this.#confirmTimeoutMs = options.confirmTimeoutMs ?? 15_000;
    this.#metrics = options.metrics ?? noStreamMetrics;
    this.#log = options.log ?? silentLog;
    this.#now = options.now ?? Date.now;
    this.#nextTurn = options.nextTurn ?? nextTurn;
  }

  async hold(names: readonly string[]): Promise<Hold> {
    if (this.#isClosed) throw new AppError("unavailable", "The gateway is closing", { retryAfterSeconds: 2 });
    // The references are taken before the first await, so that nobody lets go of a channel that is waited for.
    const hold = new ChannelHold(
      this.#idled,
      Array.from(new Set(names), (name) => this.#take(name)),
    );
    try {
      for (const channel of hold.channels) await channel.confirmed;
      return hold;
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  stats(): HubStats {
    let channels = 0;
    let members = 0;
    for (const channel of this.#channels.values()) {
      if (channel.isHeard()) channels += 1;
      members += channel.singles.size + channel.joined.size;
    }
    return { channels, members, subscriptions: this.#channels.size };
  }

  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) this.#lose(channel);
    if (this.#lingerTimer !== null) clearTimeout(this.#lingerTimer);
    this.#lingerTimer = null;
  }

  /** The last hold has left: the subscription stays a little, and a new hold in that time finds it confirmed. */
  #idle(channel: Channel): void {
    this.#idleSince.set(channel, this.#now());
    this.#lingerTimer ??= setTimeout(() => this.#sweepIdle(), this.#lingerMs);
  }

  /** Writes what has arrived: one chunk for each channel, the same bytes to each of its members. */
  #flush(): void {
    const channels = this.#waitingChannels;
    const holds = this.#waitingHolds;
    if (channels.length === 0) return;
    this.#waitingChannels = [];
    this.#waitingHolds = [];
    this.#waitingChars = 0;
    const nowMs = this.#now();
    for (const channel of channels) {
      const frames = channel.frames;
      const chunk = encodeChunk(frames.length === 1 ? (frames[0] ?? "") : frames.join(""));
      channel.chunk = chunk;
      channel.frames = [];
      const count = channel.singles.size;
      for (const hold of channel.singles) this.#deliver(hold, chunk, nowMs);
      if (count > 0) this.#metrics.delivered(frames.length * count, chunk.byteLength * count);
    }
    for (const { hold, queue } of holds) {
      const frames = queue.frames;
      const chunk = queue.source?.chunk ?? encodeChunk(frames.join(""));
      queue.frames = [];
      queue.source = null;
      if (hold.member === null) continue;
      this.#deliver(hold, chunk, nowMs);
      this.#metrics.delivered(frames.length, chunk.byteLength);
    }
    for (const channel of channels) channel.chunk = null;
  }

  #take(name: string): Channel {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.holds += 1;
    this.#idleSince.delete(channel);
    return channel;
  }

  #open(name: string): Channel {
    const channel = new Channel(name);
    this.#channels.set(name, channel);
    channel.confirmed = this.#confirm(channel);
    // Every hold awaits it for itself; when all have left meanwhile, nobody needs to hear of a failure.
    channel.confirmed.catch(() => {});
    return channel;
  }

  async #confirm(channel: Channel): Promise<void> {
    const timer = setTimeout(() => {
      channel.abort.abort(unavailable("The broker did not confirm the subscription in time"));
    }, this.#confirmTimeoutMs);
    const handlers = {
      onMessage: (_name: string, message: string) => this.#receive(channel, message),
      onLost: (reason: LostReason) => {
        if (channel.isOver) return;
        this.#metrics.subscriptionLost(reason);
        this.#lose(channel);
      },
    };
    try {
      await this.#subscriber.subscribe([channel.name], handlers, channel.abort.signal);
    } catch (error) {
      if (!channel.isOver) this.#metrics.subscriptionLost("refused");
      this.#discard(channel);
      throw error instanceof AppError ? error : unavailable("The broker cannot be reached", error);
    } finally {
      clearTimeout(timer);
    }
    // Confirmed and lost again before anybody could be told.
    if (channel.isOver) throw connectionLost();
  }

  #receive(channel: Channel, message: string): void {
    // Nobody is told of what arrives before the confirmation or while the channel lingers.
    if (channel.isOver || !channel.isHeard()) return;
    const event = parseMessage(message);
    if (event === null) {
      this.#metrics.messageDropped();
      this.#lose(channel);
      return;
    }
    if (event.deliveryId !== undefined && channel.isRepeated(event.deliveryId)) return;
    const frame = encodeEventFrame(event);
    if (this.#waitingChannels.length === 0) this.#nextTurn(this.#flushLater);
    if (channel.frames.push(frame) === 1) this.#waitingChannels.push(channel);
    for (const [hold, queue] of channel.joined) {
      const length = queue.frames.push(frame);
      if (length === 1) this.#waitingHolds.push({ hold, queue });
      queue.source = length === 1 || queue.source === channel ? channel : null;
    }
    this.#waitingChars += frame.length;
    if (isTerminalEventType(event.type)) this.#endMembers(channel);
    else if (this.#waitingChars > maxWaitingChars) this.#flush();
  }

  /** The terminal event reaches everybody first, whole; what comes after it is only for those who stay. */
  #endMembers(channel: Channel): void {
    this.#flush();
    for (const hold of channel.singles) if (hold.member?.endsAfterTerminalEvent) this.#end(hold, "ended");
    for (const [hold, queue] of channel.joined) {
      if (!hold.member?.endsAfterTerminalEvent) continue;
      queue.ended.add(channel);
      if (queue.ended.size === hold.channels.length) this.#end(hold, "ended");
    }
  }

  /** An event may have been missed: whoever is attached is closed at once, and the next hold subscribes anew. */
  #lose(channel: Channel): void {
    if (channel.isOver) return;
    this.#flush();
    this.#discard(channel);
    for (const hold of channel.singles) this.#end(hold, "lost");
    for (const hold of channel.joined.keys()) this.#end(hold, "lost");
  }

  #discard(channel: Channel): void {
    channel.isOver = true;
    channel.abort.abort(unavailable("The subscription is over"));
    this.#idleSince.delete(channel);
    // A new channel of that name may already be there.
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
  }

  #deliver(hold: ChannelHold, chunk: Chunk, nowMs: number): void {
    try {
      hold.member?.deliver(chunk, nowMs);
    } catch (error) {
      // A bug of one member: it has lost events, the others have not.
      this.#log.error({ err: error }, "A stream could not take an event");
      this.#end(hold, "lost");
    }
  }

  #end(hold: ChannelHold, reason: "lost" | "ended"): void {
    const member = hold.member;
    hold.release();
    try {
      member?.end(reason);
    } catch (error) {
      this.#log.error({ err: error }, "A stream could not be closed");
    }
  }

  #sweepIdle(): void {
    this.#lingerTimer = null;
    const nowMs = this.#now();
    for (const [channel, sinceMs] of this.#idleSince) {
      const leftMs = sinceMs + this.#lingerMs - nowMs;
      if (leftMs > 0) {
        this.#lingerTimer = setTimeout(() => this.#sweepIdle(), leftMs);
        return;
      }
      this.#discard(channel);
    }
  }
}

/** `setImmediate` runs after all of a turn's input was read; where a runtime has none, a timer does. */
function nextTurn(callback: () => void): void {
  const { setImmediate: immediate } = globalThis as { readonly setImmediate?: (callback: () => void) => unknown };
  if (immediate === undefined) setTimeout(callback, 0);
  else immediate(callback);
}
