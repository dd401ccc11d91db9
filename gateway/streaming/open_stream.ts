import type { AppError } from "../../shared/app_error.ts";
import { unavailable } from "../../shared/brokers/unavailable.ts";
import type { AuthorityCheck } from "../auth/membership.ts";
import type { Principal } from "../auth/principal.ts";
import type { Limits } from "../limits.ts";
import type { CloseReason, Count } from "../observability/metrics.ts";
import { connectionLost, type HubMember } from "./channel.ts";
import { encodeChunk, encodeClose, encodeComment, type Chunk } from "./event_stream_encoding.ts";
import type { Hub } from "./hub.ts";
import type { StoredNumber } from "./published.ts";
import type { Sink, SinkOwner, StreamRequest } from "./sinks/sink.ts";

/**
 * Opens the named streams of a principal once more, without a client. Returns the ones that would be refused now:
 * `ended` for a resource that has ended or is not there, `denied` for one that may not be followed. `onStored` takes how far the
 * events of their channels were stored. Rejects when the database does not answer.
 */
export type RecheckChannels = (
  principal: Principal,
  names: readonly string[],
  onStored: (stored: readonly StoredNumber[]) => void,
) => Promise<ReadonlyMap<string, "ended" | "denied">>;

/** Parts that all streams of a process share. */
export interface StreamContext {
  readonly hub: Pick<Hub, "leave" | "loseBehind">;
  readonly limits: Pick<Limits, "streams" | "unreadBytes">;
  readonly count: Count;
  readonly heartbeatMs: number;
  readonly maxBufferBytes: number;
  /** How long a closed stream's last bytes may take to leave. Default 2,000. */
  readonly closeGraceMs: number;
  readonly now: () => number;
  /** From 0 inclusive to 1 exclusive. */
  readonly random: () => number;
  readonly stillAllowed: AuthorityCheck;
  /** Default: streams end by their terminal event and with their authority only. */
  readonly recheckChannels?: RecheckChannels | undefined;
  /** Streams are closed within this time after their authority ended, the query's time included. */
  readonly recheckMs: number;
  /** From now on the stream is swept and rechecked. */
  readonly onOpen: (stream: OpenStream) => void;
  /** It holds nothing more. Called once, also for a stream that was never opened. */
  readonly onOver: (stream: OpenStream) => void;
}

export interface StreamStart {
  /** Proxies and clients see at once that the stream is open. */
  readonly opening: Chunk;
  readonly snapshot: Chunk | null;
  /** When it ends at the latest, and why. */
  readonly endMs: number;
  readonly endReason: "expired" | "lifetime";
}

/** Heartbeats after which a client is closed that has read no buffered bytes. */
const maxStalledHeartbeats = 4;
const heartbeatChunk = encodeChunk(encodeComment("heartbeat"));

/**
 * One client's stream, from before its subscription is confirmed until everything it held is released. Anything that ends it
 * (client, timer, hub, buffer limit, recheck, drain) ends it once.
 */
export class OpenStream implements HubMember, SinkOwner {
  readonly principal: Principal;
  /** As in `RequestedStream`. */
  readonly name: string;
  /** When the last check of its authority began: before it was opened, or a recheck. */
  checkedMs: number;
  /** When the last check that confirmed its authority began. */
  confirmedMs: number;
  readonly #context: StreamContext;
  #state: "opening" | "open" | "closing" | "over" = "opening";
  #sink: Sink | null = null;
  /** While opening: what arrived before the snapshot was read, why it cannot be opened any more, whether it has ended. */
  #waiting: Chunk[] = [];
  #waitingBytes = 0;
  #failure: AppError | null = null;
  #hasEnded = false;
  /** Bytes of the snapshot that the client may not have read yet: they do not count as a slow client's. */
  #snapshotBytes = 0;
  /** While open: when it closes, and why. While closing: when the grace of the last bytes ends. */
  #endMs = Infinity;
  #endReason: CloseReason = "lifetime";
  #lastWriteMs = 0;
  /** Counted against the tenant's limit. */
  #unreadBytes = 0;
  /** Idle for this long, it writes a comment: 0.4 to 0.65 of the heartbeat, so that not all streams write in one turn. */
  readonly #idleMs: number;
  /** At the last tick: bytes buffered; since then: bytes written; since when the client has read nothing. */
  #bufferedBytes = 0;
  #writtenBytes = 0;
  #stalledSinceMs = 0;

  /** Takes a place among its tenant's. Throws as `Limit.take` does. */
  constructor({ principal, name }: Pick<StreamRequest, "principal" | "name">, context: StreamContext) {
    context.limits.streams.take(principal.tenantId);
    this.principal = principal;
    this.name = name;
    // The caller has just checked the principal's authority; what follows may take long.
    this.checkedMs = context.now();
    this.confirmedMs = this.checkedMs;
    this.#context = context;
    this.#idleMs = context.heartbeatMs * (0.4 + 0.25 * context.random());
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Sends the opening, the snapshot and the events that have arrived. Throws `AppError("unavailable")` when one was lost. */
  start(sink: Sink, { opening, snapshot, endMs, endReason }: StreamStart): Response {
    if (this.#failure !== null) throw this.#failure;
    this.#sink = sink;
    const response = sink.open(opening);
    // The first write can already find that the client has left.
    if (this.isOver) return response;
    const nowMs = this.#context.now();
    this.#state = "open";
    this.#stalledSinceMs = nowMs;
    this.#wrote(opening, nowMs);
    this.#endMs = endMs;
    this.#endReason = endReason;
    this.#context.onOpen(this);
    this.#context.count("streams_opened", null);
    if (snapshot !== null) {
      this.#snapshotBytes = snapshot.bytes.byteLength;
      this.deliver(snapshot, nowMs);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const chunk of waiting) this.deliver(chunk, nowMs);
    if (this.#hasEnded) this.close("ended");
    return response;
  }

  deliver(chunk: Chunk, nowMs: number): void {
    if (this.#state === "opening") this.#wait(chunk);
    if (this.#state !== "open" || this.#sink === null) return;
    const { maxBufferBytes } = this.#context;
    const bufferedBytes = this.#sink.write(chunk);
    this.#wrote(chunk, nowMs);
    if (!this.#countUnread(bufferedBytes)) {
      this.close("slow");
      // Its bytes are needed now: the tenant's other streams would be closed as well.
      this.#sink?.destroy();
    } else if (bufferedBytes > maxBufferBytes + this.#snapshotBytes) this.close("slow");
    else if (bufferedBytes <= maxBufferBytes) this.#snapshotBytes = 0;
  }

  /** Called by the hub. */
  end(reason: "lost" | "ended"): void {
    if (this.#state !== "opening") this.close(reason);
    else if (reason === "ended") this.#hasEnded = true;
    else this.#refuse(connectionLost());
  }

  onSweep(nowMs: number): void {
    const isDue = nowMs >= this.#endMs;
    if (this.#state === "closing") {
      if (isDue) this.#sink?.destroy();
      else this.#sink?.finishIfDrained?.();
    } else if (isDue) this.close(this.#endReason);
    else this.#beat(nowMs);
  }

  /** Moves its end forward, never back. */
  endBy(atMs: number, reason: CloseReason): void {
    if (this.#state !== "open" || this.#endMs <= atMs) return;
    this.#endMs = atMs;
    this.#endReason = reason;
  }

  /** Writes `: close <reason>`, ends the response, and gives the last bytes a little time to leave. */
  close(reason: CloseReason): void {
    if (this.#state !== "open" || this.#sink === null) return;
    this.#state = "closing";
    this.#context.hub.leave(this);
    this.#context.count("streams_closed", reason);
    this.#endMs = this.#context.now() + this.#context.closeGraceMs;
    // Streams that are closed together reconnect over 1 to 5 s.
    const isOfMany = reason === "lost" || reason === "drain";
    const retryMs = isOfMany ? 1000 + Math.floor(this.#context.random() * 4000) : null;
    this.#sink.end(encodeChunk(encodeClose(reason, retryMs)));
  }

  /** Called by the sink: the client left, or the response is finished. Also releases a stream that was never opened. */
  onClosed(): void {
    if (this.#state === "over") return;
    if (this.#state === "open") this.#context.count("streams_closed", "gone");
    this.#state = "over";
    this.#context.hub.leave(this);
    this.#waiting = [];
    this.#sink = null;
    this.#countUnread(0);
    this.#context.limits.streams.give(this.principal.tenantId);
    this.#context.onOver(this);
  }

  #wait(chunk: Chunk): void {
    if (this.#failure !== null) return;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.bytes.byteLength;
    if (this.#waitingBytes > this.#context.maxBufferBytes) {
      this.#refuse(unavailable("More events arrived than are buffered while the snapshot was read"));
    }
  }

  /** Before the head was sent: `start` says so. */
  #refuse(failure: AppError): void {
    this.#failure = failure;
    this.#waiting = [];
    this.#context.hub.leave(this);
  }

  #beat(nowMs: number): void {
    if (this.#sink === null) return;
    const bufferedBytes = this.#sink.bufferedBytes();
    this.#countUnread(bufferedBytes);
    this.#watchStall(bufferedBytes, nowMs);
    if (bufferedBytes > 0 || nowMs - this.#lastWriteMs < this.#idleMs) return;
    this.#sink.write(heartbeatChunk);
    this.#wrote(heartbeatChunk, nowMs);
  }

  #countUnread(bytes: number): boolean {
    const more = bytes - this.#unreadBytes;
    if (more === 0) return true;
    this.#unreadBytes = bytes;
    return this.#context.limits.unreadBytes.add(this.principal.tenantId, more) || more < 0;
  }

  #wrote(chunk: Chunk, nowMs: number): void {
    this.#lastWriteMs = nowMs;
    this.#writtenBytes += chunk.bytes.byteLength;
  }

  /**
   * Compared from tick to tick, because a sink may count the framing of chunks: over a stream's whole life that would add up
   * to more than a slow client reads.
   */
  #watchStall(bufferedBytes: number, nowMs: number): void {
    const isReading = bufferedBytes === 0 || bufferedBytes < this.#bufferedBytes + this.#writtenBytes;
    this.#bufferedBytes = bufferedBytes;
    this.#writtenBytes = 0;
    if (isReading) this.#stalledSinceMs = nowMs;
    else if (nowMs - this.#stalledSinceMs >= maxStalledHeartbeats * this.#context.heartbeatMs) this.close("slow");
  }
}
