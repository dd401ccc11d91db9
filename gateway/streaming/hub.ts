import { AppError } from "../../shared/app_error.ts";
import type { LostReason, Subscriber } from "../../shared/broker.ts";
import { unavailable } from "../../shared/brokers/unavailable.ts";
import { fitsChannel, parseMessage, type EncodedEvent } from "../../shared/event.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import type { DeliveryRate } from "../limits.ts";
import { silentLog, type Log } from "../observability/log.ts";
import { noCount, type Count } from "../observability/metrics.ts";
import { nextTurn } from "../turns.ts";
import { connectionLost, createChannel, type Channel, type HubMember } from "./channel.ts";
import { encodeChunk, encodeEventFrame, type Chunk } from "./event_stream_encoding.ts";
import { createNumberReader, DeliveryNumbers, type ReadStored } from "./delivery_numbers.ts";
import type { StoredNumber } from "./published.ts";

export interface HubOptions {
  readonly subscriber: Subscriber;
  /** How long a subscription outlives its last stream, so that reconnects do not thrash. Default 5,000. */
  readonly lingerMs?: number;
  /** Reads the last stored number of each channel, the newest first. Default: nothing is stored. */
  readonly readStored?: ReadStored | undefined;
  /** Default: no limit. */
  readonly deliveries?: DeliveryRate | undefined;
  readonly count?: Count;
  readonly log?: Log;
  readonly now?: () => number;
}

/** How long the broker may take to confirm: with the rest of the request it stays within 20 s. */
const confirmTimeoutMs = 15_000;
/** More text than this is written before the turn ends: the queue is bounded. */
const maxQueuedChars = 65_536;
/** A channel whose tenant has had its deliveries waits so long, and is lost with more text than this. */
const heldMs = 10;
const maxHeldChars = 524_288;
/** An event may arrive so long after a later one of its producer. */
const holeMs = 2000;

export type Hub = ReturnType<typeof createHub>;

/** One upstream subscription for each channel of this process, and the members that each message is handed to. */
export function createHub(options: HubOptions) {
  const { subscriber, lingerMs = 5000, readStored = async () => [] } = options;
  const { deliveries, count = noCount, log = silentLog, now = Date.now } = options;
  const byName = new Map<string, Channel>();
  const joined = new Map<HubMember, readonly Channel[]>();
  const readNumbers = createNumberReader(readStored, now);
  /** They have messages that were not written yet. */
  let queuedChannels: Channel[] = [];
  let queuedChars = 0;
  let isClosed = false;

  return { join, leave, stats, loseBehind, close };

  /**
   * Resolves when the broker has confirmed every channel and the stored numbers were read. After that the member receives every event,
   * and a stored event that does not arrive ends it. Rejects with `AppError("unavailable")`, and when the database does not answer;
   * then the member has left.
   */
  async function join(member: HubMember, names: readonly string[]): Promise<void> {
    if (isClosed) throw unavailable("The gateway is closing");
    // They are counted before the first await, so that no channel that is awaited here is given up in the meantime.
    const channels: Channel[] = [];
    joined.set(member, channels);
    try {
      for (const name of new Set(names)) channels.push(use(name));
      for (const { confirmed } of channels) await confirmed;
      // One was lost while another was confirmed, or the member has left.
      if (!joined.has(member) || channels.some(({ isOver }) => isOver)) throw connectionLost();
      for (const channel of channels) {
        // Events that were published before the first member joined concern nobody.
        if (channel.members.size === 0) channel.numbers = new DeliveryNumbers();
        channel.members.add(member);
      }
      await Promise.all(
        channels.map((channel) => (channel.numbers.learned ??= readNumbers(channel.parts.tenantId, channel))),
      );
      for (const channel of channels) watchHole(channel);
    } catch (error) {
      leave(member);
      throw error;
    }
  }

  /** The member receives nothing more. Calling it twice is fine. */
  function leave(member: HubMember): void {
    const channels = joined.get(member) ?? [];
    joined.delete(member);
    for (const channel of channels) {
      channel.members.delete(member);
      channel.users -= 1;
      if (channel.users > 0 || channel.isOver) continue;
      // A member that comes back within the linger finds the subscription confirmed.
      channel.lingerTimer = setTimeout(() => discard(channel), lingerMs);
    }
  }

  /** Channels and members that receive events; upstream subscriptions that are being confirmed, in use, or lingering. */
  function stats(): { readonly channels: number; readonly members: number; readonly subscriptions: number } {
    const active = [...byName.values()].filter(({ members }) => members.size > 0);
    const members = new Set(active.flatMap((channel) => [...channel.members]));
    return { channels: active.length, members: members.size, subscriptions: byName.size };
  }

  /** Ends the members of channels on which something that was stored has not arrived. */
  function loseBehind(stored: readonly StoredNumber[]): void {
    for (const number of stored) {
      const channel = byName.get(number.channel);
      if (channel !== undefined && channel.members.size > 0 && channel.numbers.isBehind(number)) lose(channel);
    }
  }

  /** Ends every member with `lost` and unsubscribes from everything. */
  function close(): void {
    isClosed = true;
    for (const channel of byName.values()) lose(channel);
  }

  function use(name: string): Channel {
    const channel = byName.get(name) ?? open(name);
    channel.users += 1;
    clearTimeout(channel.lingerTimer);
    return channel;
  }

  function open(name: string): Channel {
    const channel = createChannel(name);
    byName.set(name, channel);
    channel.confirmed = confirm(channel);
    // Everyone who joins awaits it; when all have left in the meantime, a failure is of no interest.
    channel.confirmed.catch(() => {});
    return channel;
  }

  async function confirm(channel: Channel): Promise<void> {
    const isLate = () => unavailable("The broker did not confirm the subscription in time");
    const handlers = {
      onMessage: (message: string) => receive(channel, message),
      onLost: (reason: LostReason) => {
        if (channel.isOver) return;
        count("broker_subscriptions_lost", reason);
        lose(channel);
      },
    };
    try {
      const confirmed = subscriber.subscribe(channel.name, handlers, channel.abort.signal);
      await withTimeout(confirmed, confirmTimeoutMs, isLate);
    } catch (error) {
      if (!channel.isOver) count("broker_subscriptions_lost", "refused");
      discard(channel);
      throw error instanceof AppError ? error : unavailable("The broker cannot be reached", { cause: error });
    }
    // Confirmed, and lost again before this continuation ran.
    if (channel.isOver) throw connectionLost();
  }

  function receive(channel: Channel, message: string): void {
    // A message before the confirmation or while the channel lingers has no receiver.
    if (channel.isOver || channel.members.size === 0) return;
    const events = parseMessage(message);
    if (events === null) {
      count("broker_messages_dropped", null);
      lose(channel);
    } else for (const event of events) queue(channel, event);
  }

  /** Has the event written in this turn or the next. */
  function queue(channel: Channel, event: EncodedEvent): void {
    // The one before it in a list has ended them.
    if (channel.members.size === 0) return;
    // Only a program with its own access to the broker sends this. It must not end another resource's streams.
    if (!fitsChannel(channel.parts, event)) return count("broker_messages_dropped", null);
    const { numbers } = channel;
    if (event.deliveryId !== undefined && numbers.isRepeated(event.deliveryId, now())) {
      if (numbers.hasGoneBack(event.deliveryId)) lose(channel);
      return;
    }
    const isEnd = event.type === channel.terminalType;
    // No client looks for what is missing once it has the terminal event.
    if (isEnd && numbers.holeSinceMs !== null) return lose(channel);
    watchHole(channel);
    const frame = encodeEventFrame(event);
    if (channel.frames.push(frame) === 1) {
      if (queuedChannels.length === 0) nextTurn(() => writeQueue());
      queuedChannels.push(channel);
    }
    queuedChars += frame.length;
    if (isEnd) endMembers(channel);
    else if (queuedChars > maxQueuedChars) writeQueue();
  }

  function writeQueue(): void {
    const channels = queuedChannels;
    queuedChannels = [];
    queuedChars = 0;
    for (const channel of channels) writeInTurn(channel);
  }

  /** Writes the events that have arrived. Those over the tenant's rate wait, and are written together with later ones. */
  function writeInTurn(channel: Channel): void {
    const nowMs = now();
    if (deliveries?.take(channel.parts.tenantId, channel.members.size, nowMs) !== false) write(channel, nowMs);
    else if (channel.frames.reduce((sum, { length }) => sum + length, 0) > maxHeldChars) lose(channel);
    else setTimeout(() => writeInTurn(channel), heldMs);
  }

  /** One chunk, the same bytes to each member. */
  function write(channel: Channel, nowMs = now()): void {
    const { frames, members } = channel;
    if (frames.length === 0) return;
    channel.frames = [];
    const chunk = encodeChunk(frames.length === 1 ? (frames[0] ?? "") : frames.join(""));
    for (const member of members) deliver(member, chunk, nowMs);
    count("events_delivered", null, frames.length * members.size);
    count("event_bytes_delivered", null, chunk.bytes.byteLength * members.size);
  }

  function deliver(member: HubMember, chunk: Chunk, nowMs: number): void {
    try {
      member.deliver(chunk, nowMs);
    } catch (error) {
      // A bug of one member: it has lost events, the others have not.
      log.error({ error }, "A stream could not take an event");
      end(member, "lost");
    }
  }

  /** The members are ended unless what is missing arrives in time. */
  function watchHole(channel: Channel): void {
    const { holeSinceMs } = channel.numbers;
    if (holeSinceMs === null || channel.isOver) return;
    // The rest of the time: this hole may be a younger one, and Node's timers may be a little early.
    channel.holeTimer ??= setTimeout(
      () => {
        channel.holeTimer = undefined;
        if (now() - (channel.numbers.holeSinceMs ?? Infinity) >= holeMs) lose(channel);
        else watchHole(channel);
      },
      holeSinceMs + holeMs - now(),
    );
  }

  /** The terminal event is first delivered whole to every member. */
  function endMembers(channel: Channel): void {
    write(channel);
    for (const member of channel.members) {
      channel.members.delete(member);
      const isOnAnother = joined.get(member)?.some(({ members }) => members.has(member)) ?? true;
      if (!isOnAnother) end(member, "ended");
    }
  }

  /** An event may have been missed: every member is ended at once, and who joins next subscribes afresh. */
  function lose(channel: Channel): void {
    if (channel.isOver) return;
    write(channel);
    discard(channel);
    for (const member of channel.members) end(member, "lost");
  }

  function discard(channel: Channel): void {
    channel.isOver = true;
    clearTimeout(channel.holeTimer);
    clearTimeout(channel.lingerTimer);
    channel.abort.abort(unavailable("The subscription is over"));
    // A new channel of that name may already be there.
    if (byName.get(channel.name) === channel) byName.delete(channel.name);
  }

  function end(member: HubMember, reason: "lost" | "ended"): void {
    leave(member);
    try {
      member.end(reason);
    } catch (error) {
      log.error({ error }, "A stream could not be closed");
    }
  }
}
