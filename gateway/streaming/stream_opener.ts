import type { FairShare } from "../../shared/fair_share.ts";
import type { Principal } from "../auth/principal.ts";
import type { RequestedStream } from "./event_stream.ts";

/** A caller who was authenticated, and the stream that it asks for. */
export interface RequestedOpening {
  readonly stream: RequestedStream;
  readonly principal: Principal;
  readonly hasSnapshot: boolean;
  readonly request: Request;
  /** As in `StreamRequest`. */
  readonly platform?: unknown;
}

/**
 * Authorizes and opens streams: in this process on Node and Deno (`ChannelManager`), in the tenant's Durable Object on
 * Workers (`object_streams.ts`).
 *
 * Resolves with the `200` only after the broker has confirmed every channel (S1), and with `204` for what has ended. Rejects with
 * `AppError` `not_authenticated`, `not_found`, `permission_denied`, `too_many` (a tenant's bound), or `unavailable` (the process's
 * bound, an unreachable database or broker, draining); the last two with `retryAfterSeconds`.
 */
export interface StreamOpener {
  open(opening: RequestedOpening): Promise<Response>;
  /** Streams that are being opened, from the arrival of their requests. Absent in a stateless Worker. */
  readonly openings?: FairShare;
}
