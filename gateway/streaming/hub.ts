import { AppError } from "../../shared/app_error.ts";
import type { LostReason, Subscriber } from "../../shared/broker.ts";
import { parseMessage } from "../../shared/event.ts";
import { encodeEventFrame } from "../../shared/event_stream_encoding.ts";
import { nextTurn } from "../turns.ts";
import type { DeliveryRate } from "../limits.ts";
import { silentLog, type Log } from "../observability/log.ts";
import { noStreamMetrics, type StreamMetrics } from "../observability/metrics.ts";
import { Channel, connectionLost, SubscriptionLease, unavailable } from "./channel.ts";
import { encodeChunk, type Chunk } from "./encoded_chunk.ts";
import { NumberReader, type ReadStored } from "./number_reader.ts";
import type { StoredNumber } from "./published.ts";

export interface HubOptions {
  readonly subscriber: Subscriber;
  /** How long a subscription outlives its last stream, so that reconnects do not thrash. Default 5,000. */
  readonly lingerMs?: number;
  /** How long the broker may take to confirm. Default 15,000: with the rest of the request it stays within 20 s. */
  readonly confirmTimeoutMs?: number;
  /** Reads the last stored number of each channel, the newest first. Default: nothing is stored. */
  readonly readStored?: ReadStored | undefined;
  /** Default: no limit. */
  readonly deliveries?: DeliveryRate | undefined;
  readonly metrics?: StreamMetrics;
  readonly log?: Log;
  readonly now?: () => number;
}

export interface HubStats {
  /** Channels with at least one attached member. */
  readonly channels: number;
  readonly members: number;
  /** Upstream subscriptions: being confirmed, in use, or lingering. */
  readonly subscriptions: number;
}

/** More text than this is written before the turn ends: the queue is bounded. */
const maxQueuedChars = 65_536;
/** A channel whose tenant has had its deliveries waits so long, and is lost with more text than this. */
const heldMs = 10;
const maxHeldChars = 524_288;
/** An event may arrive so long after a later one of its producer. */
const holeMs = 2000;

/** One upstream subscription for each channel of this process, and the members that each message is handed to. */
export class Hub {
  readonly #subscriber: Subscriber;
  readonly #lingerMs: number;
  readonly #confirmTimeoutMs: number;
  readonly #deliveries: DeliveryRate | null;
  readonly #numbers: NumberReader;
  readonly #metrics: StreamMetrics;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #channels = new Map<string, Channel>();
  /** They have messages that were not written yet. */
  #queuedChannels: Channel[] = [];
  #queuedChars = 0;
  #isClosed = false;
  /** The last lease was released: a new one within the linger finds the subscription confirmed. */
  readonly #onIdle = (channel: Channel) => {
    channel.lingerTimer = setTimeout(() => this.#discard(channel), this.#lingerMs);
  };

  constructor(options: HubOptions) {
    this.#subscriber = options.subscriber;
    this.#lingerMs = options.lingerMs ?? 5000;
    this.#confirmTimeoutMs = options.confirmTimeoutMs ?? 15_000;
    this.#deliveries = options.deliveries ?? null;
    this.#metrics = options.metrics ?? noStreamMetrics;
    this.#log = options.log ?? silentLog;
    this.#now = options.now ?? Date.now;
    this.#numbers = new NumberReader(options.readStored ?? (async () => []), this.#now);
  }

  /** Resolves once the broker has confirmed every channel; rejects with `AppError("unavailable")`. */
  async acquire(names: readonly string[]): Promise<SubscriptionLease> {
    if (this.#isClosed) throw new AppError("unavailable", "The gateway is closing", { retryAfterSeconds: 2 });
    // The references are counted before the first await, so that no channel that is awaited here is released in the meantime.
    const lease = new SubscriptionLease(
      this.#onIdle,
      Array.from(new Set(names), (name) => this.#addReference(name)),
    );
    try {
      for (const channel of lease.channels) await channel.confirmed;
      return lease;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /**
   * Resolves when the lease's channels, which have members now, have learned how far their events were stored: whatever is stored
   * later and does not arrive ends the members. Rejects when the database does not answer.
   */
  async number({ channels }: SubscriptionLease): Promise<void> {
    await Promise.all(channels.map((channel) => (channel.numbered ??= this.#numbers.read(channel))));
    for (const channel of channels) this.#watchHole(channel);
  }

  stats(): HubStats {
    const active = [...this.#channels.values()].filter(({ members }) => members.size > 0);
    const members = new Set(active.flatMap((channel) => [...channel.members]));
    return { channels: active.length, members: members.size, subscriptions: this.#channels.size };
  }

  /** Ends the members of channels on which something that was stored has not arrived. */
  loseBehind(stored: readonly StoredNumber[]): void {
    for (const numbers of stored) {
      const channel = this.#channels.get(numbers.channel);
      if (channel !== undefined && channel.members.size > 0 && channel.isBehind(numbers)) this.#lose(channel);
    }
  }

  /** Ends every member with `lost` and unsubscribes from everything. */
  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) this.#lose(channel);
  }

  #flushQueue(): void {
    const channels = this.#queuedChannels;
    this.#queuedChannels = [];
    this.#queuedChars = 0;
    this.#flush(channels);
  }

  /** Writes the events that have arrived. Those over the tenant's rate wait, and are written together with later ones. */
  #flush(channels: readonly Channel[]): void {
    const nowMs = this.#now();
    for (const channel of channels) {
      if (this.#deliveries?.take(channel.tenantId, channel.members.size, nowMs) === false) this.#hold(channel);
      else this.#write(channel, nowMs);
    }
  }

  #hold(channel: Channel): void {
    if (channel.frames.reduce((sum, { length }) => sum + length, 0) > maxHeldChars) this.#lose(channel);
    else setTimeout(() => this.#flush([channel]), heldMs);
  }

  /** One chunk, the same bytes to each member. */
  #write(channel: Channel, nowMs: number): void {
    const { frames, members } = channel;
    if (frames.length === 0) return;
    channel.frames = [];
    const chunk = encodeChunk(frames.length === 1 ? (frames[0] ?? "") : frames.join(""));
    for (const lease of members) this.#deliver(lease, chunk, nowMs);
    this.#metrics.delivered(frames.length * members.size, chunk.byteLength * members.size);
  }

  #addReference(name: string): Channel {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.refCount += 1;
    clearTimeout(channel.lingerTimer);
    return channel;
  }

  #open(name: string): Channel {
    const channel = new Channel(name);
    this.#channels.set(name, channel);
    channel.confirmed = this.#confirm(channel);
    // Every lease awaits it for itself; when all were released in the meantime, a failure is of no interest.
    channel.confirmed.catch(() => {});
    return channel;
  }

  async #confirm(channel: Channel): Promise<void> {
    const timer = setTimeout(() => {
      channel.abort.abort(unavailable("The broker did not confirm the subscription in time"));
    }, this.#confirmTimeoutMs);
    const handlers = {
      onMessage: (message: string) => this.#receive(channel, message),
      onLost: (reason: LostReason) => {
        if (channel.isOver) return;
        this.#metrics.subscriptionLost(reason);
        this.#lose(channel);
      },
    };
    try {
      await this.#subscriber.subscribe(channel.name, handlers, channel.abort.signal);
    } catch (error) {
      if (!channel.isOver) this.#metrics.subscriptionLost("refused");
      this.#discard(channel);
      throw error instanceof AppError ? error : unavailable("The broker cannot be reached", error);
    } finally {
      clearTimeout(timer);
    }
    // Confirmed, and lost again before this continuation ran.
    if (channel.isOver) throw connectionLost();
  }

  #receive(channel: Channel, message: string): void {
    // A message before the confirmation or while the channel lingers has no receiver.
    if (channel.isOver || channel.members.size === 0) return;
    const event = parseMessage(message);
    if (event === null) {
      this.#metrics.messageDropped();
      this.#lose(channel);
      return;
    }
    const end = channel.endOf(event);
    if (end === "foreign") {
      // No publisher of ours sends it; whoever did must not end the streams of another resource.
      this.#metrics.messageDropped();
      return;
    }
    if (event.deliveryId !== undefined && channel.isRepeated(event.deliveryId, this.#now())) return;
    // No client looks for what is missing once it has the terminal event.
    if (end === "own" && channel.holeSinceMs !== null) return this.#lose(channel);
    this.#watchHole(channel);
    const frame = encodeEventFrame(event);
    if (channel.frames.push(frame) === 1) {
      if (this.#queuedChannels.length === 0) nextTurn(() => this.#flushQueue());
      this.#queuedChannels.push(channel);
    }
    this.#queuedChars += frame.length;
    if (end === "own") this.#endMembers(channel);
    else if (this.#queuedChars > maxQueuedChars) this.#flushQueue();
  }

  /** The members are ended unless what is missing arrives in time. */
  #watchHole(channel: Channel): void {
    if (channel.holeSinceMs === null || channel.isOver) return;
    channel.holeTimer ??= setTimeout(() => {
      channel.holeTimer = undefined;
      if (this.#now() - (channel.holeSinceMs ?? Infinity) >= holeMs) this.#lose(channel);
      else this.#watchHole(channel);
    }, holeMs);
  }

  /** The terminal event is first delivered whole to every member. */
  #endMembers(channel: Channel): void {
    this.#write(channel, this.#now());
    for (const lease of channel.members) if (lease.endChannel(channel)) this.#end(lease, "ended");
  }

  /** An event may have been missed: every attached member is ended at once, and the next lease subscribes afresh. */
  #lose(channel: Channel): void {
    if (channel.isOver) return;
    this.#write(channel, this.#now());
    this.#discard(channel);
    for (const lease of channel.members) this.#end(lease, "lost");
  }

  #discard(channel: Channel): void {
    channel.isOver = true;
    clearTimeout(channel.holeTimer);
    clearTimeout(channel.lingerTimer);
    channel.abort.abort(unavailable("The subscription is over"));
    // A new channel of that name may already be there.
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
  }

  #deliver(lease: SubscriptionLease, chunk: Chunk, nowMs: number): void {
    try {
      lease.member?.deliver(chunk, nowMs);
    } catch (error) {
      // A bug of one member: it has lost events, the others have not.
      this.#log.error({ error }, "A stream could not take an event");
      this.#end(lease, "lost");
    }
  }

  #end(lease: SubscriptionLease, reason: "lost" | "ended"): void {
    const member = lease.member;
    lease.release();
    try {
      member?.end(reason);
    } catch (error) {
      this.#log.error({ error }, "A stream could not be closed");
    }
  }
}
