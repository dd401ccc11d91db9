import { AppError } from "../../shared/app_error.ts";
import { parseChannelName, type ChannelName } from "../../shared/channel_name.ts";
import { terminalTypeOf } from "../../shared/event.ts";
import { DeliveryNumbers } from "./delivery_numbers.ts";
import type { Chunk } from "./encoded_chunk.ts";

/** Receives the events of its channels: one open stream. Neither method may throw, publish or wait. */
export interface HubMember {
  deliver(chunk: Chunk, nowMs: number): void;
  /** It has left the hub. `lost`: an event may have been missed. `ended`: every channel of it had its terminal event. */
  end(reason: "lost" | "ended"): void;
}

/** One upstream subscription, from before it is confirmed until it is over. Changed by the hub alone. */
export class Channel {
  readonly name: string;
  readonly parts: ChannelName;
  readonly terminalType: string;
  readonly abort = new AbortController();
  confirmed: Promise<void> = Promise.resolve();
  /** How many have joined, or are about to. */
  users = 0;
  readonly members = new Set<HubMember>();
  numbers = new DeliveryNumbers();
  /** Events that were not written yet. */
  frames: string[] = [];
  isOver = false;
  /** Ends the members when a hole is not filled. */
  holeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Gives up the subscription when nobody has come back. */
  lingerTimer: ReturnType<typeof setTimeout> | undefined;

  /** Throws `TypeError` for a name that is not a channel's. */
  constructor(name: string) {
    const parts = parseChannelName(name);
    if (parts === null) throw new TypeError(`Cannot subscribe: ${JSON.stringify(name)} is not the name of a channel`);
    this.name = name;
    this.parts = parts;
    this.terminalType = terminalTypeOf(parts.prefix);
  }

  /** The member receives events from now on; what was published before the first joined concerns nobody. */
  add(member: HubMember): void {
    if (this.members.size === 0) this.numbers = new DeliveryNumbers();
    this.members.add(member);
  }
}

export function connectionLost(): AppError {
  return unavailable("The broker's connection was lost");
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError("unavailable", message, { cause, retryAfterSeconds: 2 });
}
