import type { AppError } from "../../shared/app_error.ts";
import { unavailable } from "../../shared/brokers/unavailable.ts";
import { parseChannelName } from "../../shared/channel_name.ts";
import { terminalTypeOf } from "../../shared/event.ts";
import { DeliveryNumbers } from "./delivery_numbers.ts";
import type { Chunk } from "./event_stream_encoding.ts";

/** Receives the events of its channels: one open stream. Neither method may throw, publish or wait. */
export interface HubMember {
  deliver(chunk: Chunk, nowMs: number): void;
  /** It has left the hub. `lost`: an event may have been missed. `ended`: every channel of it had its terminal event. */
  end(reason: "lost" | "ended"): void;
}

export type Channel = ReturnType<typeof createChannel>;

/** One upstream subscription, from before it is confirmed until it is over. Changed by the hub alone. Throws `TypeError` for a name that is not a channel's. */
export function createChannel(name: string) {
  const parts = parseChannelName(name);
  if (parts === null) throw new TypeError(`Cannot subscribe: ${JSON.stringify(name)} is not the name of a channel`);
  return {
    name,
    parts,
    terminalType: terminalTypeOf(parts.prefix),
    abort: new AbortController(),
    confirmed: Promise.resolve(),
    /** How many have joined, or are about to. */
    users: 0,
    members: new Set<HubMember>(),
    numbers: new DeliveryNumbers(),
    /** Events that were not written yet. */
    frames: [] as string[],
    isOver: false,
    /** Ends the members when a hole is not filled. */
    holeTimer: undefined as ReturnType<typeof setTimeout> | undefined,
    /** Gives up the subscription when nobody has come back. */
    lingerTimer: undefined as ReturnType<typeof setTimeout> | undefined,
  };
}

export function connectionLost(): AppError {
  return unavailable("The broker's connection was lost");
}
