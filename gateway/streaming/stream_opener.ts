import type { Principal } from "../auth/principal.ts";
import type { Chunk } from "./encoded_chunk.ts";
import type { FairShare } from "../../shared/fair_share.ts";
import type { FairTurns } from "../../shared/fair_turns.ts";

/** A stream that was authenticated and authorized, ready to be opened. */
export interface StreamRequest {
  readonly request: Request;
  readonly principal: Principal;
  /** At least one, checked by `requireReadable`. */
  readonly channels: readonly string[];
  /** Read once the broker has confirmed every channel, and sent before any event. Default: none. */
  readonly snapshot?: SnapshotSource;
  /** The runtime's bindings (Hono's `c.env`): on Node, the HTTP response that a sink may write to itself. */
  readonly platform?: unknown;
}

export interface SnapshotSource {
  /** Names the stream where `read` cannot be handed over (`StreamTarget`). */
  readonly streamName: string;
  /** Rejects with `AppError`. */
  read(): Promise<StreamSnapshot>;
}

export interface StreamSnapshot {
  readonly chunk: Chunk;
  /** Everything that is followed has ended: no terminal event may come. */
  readonly hasEnded: boolean;
}

/**
 * Opens streams: in this process on Node and Deno (`local_streams.ts`), in a Durable Object on Workers (`object_streams.ts`).
 *
 * Resolves with the `200` only after the broker has confirmed every channel (S1). Rejects with `AppError` `too_many`
 * (a tenant's bound), or `unavailable` (the process's bound, an unreachable broker, draining), both with
 * `retryAfterSeconds`.
 */
export interface StreamOpener {
  open(stream: StreamRequest): Promise<Response>;
  /** Streams that are being opened, from the arrival of their requests. Absent in a stateless Worker. */
  readonly openings?: FairShare;
  /** Lookups of streams that are at the database. Absent in a stateless Worker. */
  readonly lookups?: FairTurns;
}
