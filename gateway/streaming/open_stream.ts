import { encodeClose, encodeComment, encodeRetry } from "../../shared/event_stream_encoding.ts";
import { encodeChunk, type Chunk } from "./encoded_chunk.ts";
import type { Deadlines, Due } from "./timer_heap.ts";
import type { Beating, Heartbeats } from "./heartbeats.ts";
import type { Hold, HubMember } from "./hub.ts";
import type { Principal } from "../auth/principal.ts";
import type { Sink, SinkOwner } from "./sinks/sink.ts";
import type { CloseReason, StreamMetrics } from "../observability/stream_metrics.ts";
import type { StreamTenant } from "./tenant_limits.ts";

/** What all streams of a process share. */
export interface StreamSurroundings {
  readonly deadlines: Deadlines;
  readonly heartbeats: Heartbeats;
  readonly metrics: StreamMetrics;
  readonly maxBufferBytes: number;
  /** A reader that took none of its waiting bytes for so long is gone or too slow. */
  readonly maxStallMs: number;
  /** How long a closed stream's last bytes may take to leave. */
  readonly closeGraceMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** The first bytes of every stream: proxies and clients see at once that it is open. */
const firstChunk = encodeChunk(encodeRetry(2000) + encodeComment("open"));
const heartbeatChunk = encodeChunk(encodeComment("heartbeat"));

/**
 * One client's stream, from before its subscription is confirmed until everything it held is free. Whatever ends it
 * (client, deadline, hub, budget, recheck, drain) ends it once.
 */
export class OpenStream implements HubMember, SinkOwner, Due, Beating {
  readonly principal: Principal;
  readonly channels: readonly string[];
  readonly endsAfterTerminalEvent: boolean;
  dueMs = 0;
  dueIndex = -1;
  beatSlot = -1;
  /** When its authority was checked, before it was opened. */
  readonly checkedMs: number;
  readonly #shared: StreamSurroundings;
  readonly #tenant: StreamTenant;
  #state: "opening" | "open" | "closing" | "over" = "opening";
  #hold: Hold | null = null;
  #sink: Sink | null = null;
  /** What `due` means while the stream is open. */
  #dueReason: CloseReason = "lifetime";
  /** While closing: when the last bytes had time enough. */
  #destroyAtMs = 0;
  #lastWriteMs = 0;
  /** At the last look: how much waited for the client; since then: how much was written; since when it has taken nothing. */
  #waitingBytes = 0;
  #writtenBytes = 0;
  #stalledSinceMs = 0;

  constructor(tenant: StreamTenant, principal: Principal, options: StreamOptions) {
    this.#tenant = tenant;
    this.principal = principal;
    this.channels = options.channels;
    this.endsAfterTerminalEvent = options.endsAfterTerminalEvent;
    this.checkedMs = options.checkedMs;
    this.#shared = options.shared;
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Attaches, sends the head and begins to live, in one step: nothing can come between. Throws when the hold was lost. */
  start(hold: Hold, sink: Sink, end: StreamEnd): Response {
    hold.attach(this);
    this.#hold = hold;
    this.#sink = sink;
    const response = sink.open(firstChunk);
    // The first write can already find that nobody is there.
    if (this.isOver) return response;
    const nowMs = this.#shared.now();
    this.#state = "open";
    this.#stalledSinceMs = nowMs;
    this.#wrote(firstChunk, nowMs);
    this.#dueReason = end.reason;
    this.#shared.deadlines.set(this, end.atMs);
    this.#shared.heartbeats.add(this);
    this.#tenant.add(this);
    this.#shared.metrics.opened();
    return response;
  }

  deliver(chunk: Chunk, nowMs: number): void {
    if (this.#state !== "open" || this.#sink === null) return;
    const waitingBytes = this.#sink.write(chunk);
    this.#wrote(chunk, nowMs);
    if (waitingBytes > this.#shared.maxBufferBytes) this.close("slow");
  }

  /** The hub's. */
  end(reason: "lost" | "ended"): void {
    this.close(reason);
  }

  /** The deadline's: the stream's time is over, or its last bytes were given time enough. */
  due(nowMs: number): void {
    if (this.#state === "open") this.close(this.#dueReason);
    else if (this.#state === "closing") this.#settle(nowMs);
  }

  /** Moves its end forward, never back. */
  endBy(atMs: number, reason: CloseReason): void {
    if (this.#state !== "open" || this.dueMs <= atMs) return;
    this.#dueReason = reason;
    this.#shared.deadlines.set(this, atMs);
  }

  beat(nowMs: number): void {
    if (this.#state !== "open" || this.#sink === null) return;
    const waitingBytes = this.#sink.bufferedBytes();
    this.#watchStall(waitingBytes, nowMs);
    if (waitingBytes > 0) return;
    const idleMs = nowMs - this.#lastWriteMs;
    // A negative time: somebody has set the clock back.
    if (idleMs >= 0 && idleMs < this.#shared.heartbeats.idleMs) return;
    this.#sink.write(heartbeatChunk);
    this.#wrote(heartbeatChunk, nowMs);
  }

  /** Writes `: close <reason>`, ends the response, and gives the last bytes a little time to leave. */
  close(reason: CloseReason): void {
    if (this.#state !== "open" || this.#sink === null) return;
    this.#state = "closing";
    this.#detach();
    this.#shared.metrics.closed(reason);
    const nowMs = this.#shared.now();
    this.#destroyAtMs = nowMs + this.#shared.closeGraceMs;
    this.#shared.deadlines.set(this, Math.min(nowMs + settleMs, this.#destroyAtMs));
    this.#sink.end(closeChunk(reason, this.#shared.random));
  }

  /** The sink's: the client left, or the response is finished. Also how a stream is given up that was never opened. */
  gone(): void {
    const state = this.#state;
    if (state === "over") return;
    this.#state = "over";
    if (state === "open") {
      this.#detach();
      this.#shared.metrics.closed("gone");
    }
    this.#shared.deadlines.remove(this);
    this.#hold?.release();
    this.#sink = null;
    this.#tenant.release();
  }

  #settle(nowMs: number): void {
    if (nowMs >= this.#destroyAtMs) {
      this.#sink?.destroy();
      return;
    }
    this.#shared.deadlines.set(this, Math.min(nowMs + settleMs, this.#destroyAtMs));
    this.#sink?.settle();
  }

  /** No event reaches it any more, and nobody finds it. */
  #detach(): void {
    this.#hold?.release();
    this.#shared.heartbeats.remove(this);
    this.#tenant.remove(this);
  }

  #wrote(chunk: Chunk, nowMs: number): void {
    this.#lastWriteMs = nowMs;
    this.#writtenBytes += chunk.byteLength;
  }

  /**
   * Waiting bytes need no heartbeat: they will tell the client that the stream lives, or it takes none at all. Compared from
   * look to look, because a sink may count the framing of chunks: over a stream's whole life that would add up to more than
   * a slow client takes.
   */
  #watchStall(waitingBytes: number, nowMs: number): void {
    const isTaking = waitingBytes === 0 || waitingBytes < this.#waitingBytes + this.#writtenBytes;
    this.#waitingBytes = waitingBytes;
    this.#writtenBytes = 0;
    if (isTaking) this.#stalledSinceMs = nowMs;
    else if (nowMs - this.#stalledSinceMs >= this.#shared.maxStallMs) this.close("slow");
  }
}

/** How often a stream that is closing looks whether its last bytes have left. */
const settleMs = 100;

export interface StreamOptions {
  readonly channels: readonly string[];
  readonly endsAfterTerminalEvent: boolean;
  readonly checkedMs: number;
  readonly shared: StreamSurroundings;
}

/** When a stream ends at the latest, and why. */
export interface StreamEnd {
  readonly atMs: number;
  readonly reason: "expired" | "lifetime";
}

const plainChunks: Readonly<Record<"expired" | "revoked" | "slow" | "lifetime" | "ended", Chunk>> = {
  expired: encodeChunk(encodeClose("expired", null)),
  revoked: encodeChunk(encodeClose("revoked", null)),
  slow: encodeChunk(encodeClose("slow", null)),
  lifetime: encodeChunk(encodeClose("lifetime", null)),
  ended: encodeChunk(encodeClose("ended", null)),
};

/** What closes many streams at a time tells each when to come back, from 1 to 5 s, so that they do not come together. */
const spreadChunks: Readonly<Record<"lost" | "drain", readonly Chunk[]>> = {
  lost: spread("lost"),
  drain: spread("drain"),
};

function spread(reason: "lost" | "drain"): readonly Chunk[] {
  return Array.from({ length: 32 }, (_, step) => encodeChunk(encodeClose(reason, 1000 + step * 125)));
}

function closeChunk(reason: CloseReason, random: () => number): Chunk {
  if (reason !== "lost" && reason !== "drain") return plainChunks[reason];
  const chunks = spreadChunks[reason];
  return chunks[Math.floor(random() * chunks.length)] ?? plainChunks.lifetime;
}
