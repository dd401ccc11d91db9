import type { Principal } from "../auth/principal.ts";
import type { Chunk } from "./encoded_chunk.ts";

/** A stream that was authenticated and authorized, ready to be opened. */
export interface StreamRequest {
  readonly request: Request;
  readonly principal: Principal;
  /** Path and query that it was opened by, without `access_token` and `snapshot`. */
  readonly name: string;
  /** At least one, checked by `ChannelManager`. */
  readonly channels: readonly string[];
  /** Read once the broker has confirmed every channel, and sent before any event. Default: none. */
  readonly readSnapshot?: () => Promise<StreamSnapshot>;
  /** The runtime's bindings (Hono's `c.env`): on Node, the HTTP response that a sink may write to itself. */
  readonly platform?: unknown;
}

export interface StreamSnapshot {
  readonly chunk: Chunk;
  /** Everything that is followed has ended: no terminal event may come. */
  readonly hasEnded: boolean;
}
