import { AppError } from "../../shared/app_error.ts";
import type { LostReason, Subscriber } from "../../shared/broker.ts";
import { fitsChannel, parseMessage } from "../../shared/event.ts";
import { encodeEventFrame } from "./event_stream_encoding.ts";
import type { DeliveryRate } from "../limits.ts";
import { silentLog, type Log } from "../observability/log.ts";
import { noCount, type Count } from "../observability/metrics.ts";
import { nextTurn } from "../turns.ts";
import { Channel, connectionLost, unavailable, type HubMember } from "./channel.ts";
import { encodeChunk, type Chunk } from "./encoded_chunk.ts";
import { NumberReader, type ReadStored } from "./delivery_numbers.ts";
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
  readonly count?: Count;
  readonly log?: Log;
  readonly now?: () => number;
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
  readonly #options: Required<Omit<HubOptions, "deliveries" | "readStored">> & Pick<HubOptions, "deliveries">;
  readonly #channels = new Map<string, Channel>();
  readonly #joined = new Map<HubMember, readonly Channel[]>();
  /** They have messages that were not written yet. */
  #queuedChannels: Channel[] = [];
  #queuedChars = 0;
  readonly #numbers: NumberReader;
  #isClosed = false;

  constructor(options: HubOptions) {
    this.#options = {
      lingerMs: 5000,
      confirmTimeoutMs: 15_000,
      count: noCount,
      log: silentLog,
      now: Date.now,
      ...options,
    };
    this.#numbers = new NumberReader(options.readStored ?? (async () => []), this.#options.now);
  }

  /**
   * Resolves when the broker has confirmed every channel and the stored numbers were read. After that the member receives every event,
   * and a stored event that does not arrive ends it. Rejects with `AppError("unavailable")`, and when the database does not answer;
   * then the member has left.
   */
  async join(member: HubMember, names: readonly string[]): Promise<void> {
    if (this.#isClosed) throw unavailable("The gateway is closing");
    // They are counted before the first await, so that no channel that is awaited here is given up in the meantime.
    const channels: Channel[] = [];
    this.#joined.set(member, channels);
    try {
      for (const name of new Set(names)) channels.push(this.#use(name));
      for (const { confirmed } of channels) await confirmed;
      // One was lost while another was confirmed, or the member has left.
      if (!this.#joined.has(member) || channels.some(({ isOver }) => isOver)) throw connectionLost();
      for (const channel of channels) channel.add(member);
      await Promise.all(
        channels.map((channel) => (channel.numbers.learned ??= this.#numbers.read(channel.parts.tenantId, channel))),
      );
      for (const channel of channels) this.#watchHole(channel);
    } catch (error) {
      this.leave(member);
      throw error;
    }
  }

  /** The member receives nothing more. Calling it twice is fine. */
  leave(member: HubMember): void {
    const channels = this.#joined.get(member) ?? [];
    this.#joined.delete(member);
    for (const channel of channels) {
      channel.members.delete(member);
      channel.users -= 1;
      if (channel.users > 0 || channel.isOver) continue;
      // A member that comes back within the linger finds the subscription confirmed.
      channel.lingerTimer = setTimeout(() => this.#discard(channel), this.#options.lingerMs);
    }
  }

  /** Channels and members that receive events; upstream subscriptions that are being confirmed, in use, or lingering. */
  stats(): { readonly channels: number; readonly members: number; readonly subscriptions: number } {
    const active = [...this.#channels.values()].filter(({ members }) => members.size > 0);
    const members = new Set(active.flatMap((channel) => [...channel.members]));
    return { channels: active.length, members: members.size, subscriptions: this.#channels.size };
  }

  /** Ends the members of channels on which something that was stored has not arrived. */
  loseBehind(stored: readonly StoredNumber[]): void {
    for (const number of stored) {
      const channel = this.#channels.get(number.channel);
      if (channel !== undefined && channel.members.size > 0 && channel.numbers.isBehind(number)) this.#lose(channel);
    }
  }

  /** Ends every member with `lost` and unsubscribes from everything. */
  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) this.#lose(channel);
  }

  #use(name: string): Channel {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.users += 1;
    clearTimeout(channel.lingerTimer);
    return channel;
  }

  #open(name: string): Channel {
    const channel = new Channel(name);
    this.#channels.set(name, channel);
    channel.confirmed = this.#confirm(channel);
    // Everyone who joins awaits it; when all have left in the meantime, a failure is of no interest.
    channel.confirmed.catch(() => {});
    return channel;
  }

  async #confirm(channel: Channel): Promise<void> {
    const { subscriber, confirmTimeoutMs, count } = this.#options;
    const timer = setTimeout(() => {
      channel.abort.abort(unavailable("The broker did not confirm the subscription in time"));
    }, confirmTimeoutMs);
    const handlers = {
      onMessage: (message: string) => this.#receive(channel, message),
      onLost: (reason: LostReason) => {
        if (channel.isOver) return;
        count("broker_subscriptions_lost", reason);
        this.#lose(channel);
      },
    };
    try {
      await subscriber.subscribe(channel.name, handlers, channel.abort.signal);
    } catch (error) {
      if (!channel.isOver) count("broker_subscriptions_lost", "refused");
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
      this.#options.count("broker_messages_dropped", null);
      this.#lose(channel);
      return;
    }
    // Only a program with its own access to the broker sends this. It must not end another resource's streams.
    if (!fitsChannel(channel.parts, event)) return this.#options.count("broker_messages_dropped", null);
    const { numbers } = channel;
    if (event.deliveryId !== undefined && numbers.isRepeated(event.deliveryId, this.#options.now())) {
      if (numbers.hasGoneBack(event.deliveryId)) this.#lose(channel);
      return;
    }
    const isEnd = event.type === channel.terminalType;
    // No client looks for what is missing once it has the terminal event.
    if (isEnd && numbers.holeSinceMs !== null) return this.#lose(channel);
    this.#watchHole(channel);
    const frame = encodeEventFrame(event);
    if (channel.frames.push(frame) === 1) {
      if (this.#queuedChannels.length === 0) nextTurn(() => this.#writeQueue());
      this.#queuedChannels.push(channel);
    }
    this.#queuedChars += frame.length;
    if (isEnd) this.#endMembers(channel);
    else if (this.#queuedChars > maxQueuedChars) this.#writeQueue();
  }

  #writeQueue(): void {
    const channels = this.#queuedChannels;
    this.#queuedChannels = [];
    this.#queuedChars = 0;
    for (const channel of channels) this.#writeInTurn(channel);
  }

  /** Writes the events that have arrived. Those over the tenant's rate wait, and are written together with later ones. */
  #writeInTurn(channel: Channel): void {
    const { deliveries, now } = this.#options;
    const nowMs = now();
    if (deliveries?.take(channel.parts.tenantId, channel.members.size, nowMs) !== false) this.#write(channel, nowMs);
    else if (channel.frames.reduce((sum, { length }) => sum + length, 0) > maxHeldChars) this.#lose(channel);
    else setTimeout(() => this.#writeInTurn(channel), heldMs);
  }

  /** One chunk, the same bytes to each member. */
  #write(channel: Channel, nowMs = this.#options.now()): void {
    const { frames, members } = channel;
    if (frames.length === 0) return;
    channel.frames = [];
    const chunk = encodeChunk(frames.length === 1 ? (frames[0] ?? "") : frames.join(""));
    for (const member of members) this.#deliver(member, chunk, nowMs);
    this.#options.count("events_delivered", null, frames.length * members.size);
    this.#options.count("event_bytes_delivered", null, chunk.bytes.byteLength * members.size);
  }

  #deliver(member: HubMember, chunk: Chunk, nowMs: number): void {
    try {
      member.deliver(chunk, nowMs);
    } catch (error) {
      // A bug of one member: it has lost events, the others have not.
      this.#options.log.error({ error }, "A stream could not take an event");
      this.#end(member, "lost");
    }
  }

  /** The members are ended unless what is missing arrives in time. */
  #watchHole(channel: Channel): void {
    const { now } = this.#options;
    const { holeSinceMs } = channel.numbers;
    if (holeSinceMs === null || channel.isOver) return;
    // The rest of the time: this hole may be a younger one, and Node's timers may be a little early.
    channel.holeTimer ??= setTimeout(
      () => {
        channel.holeTimer = undefined;
        if (now() - (channel.numbers.holeSinceMs ?? Infinity) >= holeMs) this.#lose(channel);
        else this.#watchHole(channel);
      },
      holeSinceMs + holeMs - now(),
    );
  }

  /** The terminal event is first delivered whole to every member. */
  #endMembers(channel: Channel): void {
    this.#write(channel);
    for (const member of channel.members) {
      channel.members.delete(member);
      const isOnAnother = this.#joined.get(member)?.some(({ members }) => members.has(member)) ?? true;
      if (!isOnAnother) this.#end(member, "ended");
    }
  }

  /** An event may have been missed: every member is ended at once, and who joins next subscribes afresh. */
  #lose(channel: Channel): void {
    if (channel.isOver) return;
    this.#write(channel);
    this.#discard(channel);
    for (const member of channel.members) this.#end(member, "lost");
  }

  #discard(channel: Channel): void {
    channel.isOver = true;
    clearTimeout(channel.holeTimer);
    clearTimeout(channel.lingerTimer);
    channel.abort.abort(unavailable("The subscription is over"));
    // A new channel of that name may already be there.
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
  }

  #end(member: HubMember, reason: "lost" | "ended"): void {
    this.leave(member);
    try {
      member.end(reason);
    } catch (error) {
      this.#options.log.error({ error }, "A stream could not be closed");
    }
  }
}
