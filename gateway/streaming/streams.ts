import type { Lookups } from "./lookups.ts";
import type { Principal } from "../auth/principal.ts";

/** A stream that was authenticated and authorized, ready to be opened. */
export interface StreamRequest {
  readonly request: Request;
  readonly principal: Principal;
  /** Already passed `canReadChannel`. At least one. */
  readonly channels: readonly string[];
  /** The stream closes after a terminal event. */
  readonly endsAfterTerminalEvent: boolean;
  /** What the runtime gave beside the request (Hono's `c.env`): on Node, the HTTP response that a sink may write to itself. */
  readonly platform?: unknown;
}

/**
 * Where streams live: in this process's hub on Node and Deno, in a Durable Object on Workers.
 *
 * Resolves with the `200` only after the broker has confirmed every channel (S1). Rejects with `AppError` `too_many`
 * (a tenant's bound), or `unavailable` (the process's bound, a broker that is away, draining), both with
 * `retryAfterSeconds`.
 */
export interface Streams {
  open(stream: StreamRequest): Promise<Response>;
  /** Set where requests may wait for one another's database lookups: one process, but not a stateless Worker. */
  readonly lookups?: Lookups;
}
