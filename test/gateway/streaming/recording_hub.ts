import { afterEach, beforeEach, vi } from "vitest";
import type { HubMember } from "../../../gateway/streaming/channel.ts";
import type { Chunk } from "../../../gateway/streaming/event_stream_encoding.ts";
import { createHub, type Hub, type HubOptions } from "../../../gateway/streaming/hub.ts";
import { createScriptedSubscriber } from "../../support/scripted_subscriber.ts";
import { otherTenantId as uuid, tenantId } from "../../support/stream_server.ts";

/** A hub over a scripted broker, with members that record what they receive. */

export const aId = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
export const bId = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
export const a = `job:${tenantId}:${aId}`;
export const b = `job:${tenantId}:${bId}`;
export { tenantId, uuid };
export const lingerMs = 20;
const decoder = new TextDecoder();

export function aMember() {
  const chunks: Chunk[] = [];
  const ends: string[] = [];
  return {
    chunks,
    ends,
    deliver: (chunk: Chunk) => void chunks.push(chunk),
    end: (reason: string) => void ends.push(reason),
    text: () => chunks.map((chunk) => decoder.decode(chunk.bytes)).join(""),
  };
}

export function setUp(options: Partial<HubOptions> & { readonly confirms?: "at once" | "by script" } = {}) {
  const broker = createScriptedSubscriber({ confirms: options.confirms ?? "at once" });
  const hub = createHub({ subscriber: broker, lingerMs, ...options });
  return { broker, hub };
}

export async function join(hub: Hub, channels: readonly string[], member: HubMember = aMember()) {
  await hub.join(member, channels);
  return member;
}

/** Resolves after the turn in which the hub writes. */
export const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

export const delta = (n: number) => ({ n });
export const frame = (type: string, data: string) => `event: ${type}\ndata: ${data}\n\n`;

/** Immediates stay real: the hub writes in the next turn of the event loop. */
export function fakeTimers(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
  afterEach(() => void vi.useRealTimers());
}
