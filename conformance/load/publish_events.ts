import * as v from "valibot";
import { parseResource, type GatewayCall } from "../../command_line/gateway_call.ts";
import { pause } from "../../shared/abortable.ts";

/** The events 1, 2, 3, … of a run, on the channel of a scan that it has registered for itself. */
export interface PublishedEvents {
  readonly scanId: string;
  /** The last one whose request was sent; 0 before the first. */
  last(): number;
  sentMs(number: number): number;
  /** Null: an event of somebody else. */
  numberOf(type: string, data: Readonly<Record<string, unknown>>): number | null;
  /** Publishes until the signal aborts. Rejects when the gateway takes an event no more. */
  publish(perSecond: number, signal: AbortSignal): Promise<void>;
  /** Ends the scan. */
  end(): Promise<void>;
}

const type = "scan.delta";
const registered = v.object({ id: v.string(), channel: v.string() });

/** Registers the scan. Rejects as `GatewayCall` does. */
export async function registerLoadScan(call: GatewayCall, signal: AbortSignal): Promise<PublishedEvents> {
  const { id, channel } = parseResource(registered, await call("POST", "/api/v1/scans", {}, signal));
  const path = `/api/v1/channels/${encodeURIComponent(channel)}/events`;
  const sentAtMs: number[] = [];
  return {
    scanId: id,
    last: () => sentAtMs.length,
    sentMs: (number) => sentAtMs[number - 1] ?? performance.now(),
    numberOf(eventType, data) {
      const { number } = data;
      return eventType === type && data["scan_id"] === id && typeof number === "number" ? number : null;
    },
    async publish(perSecond, stopped) {
      const startMs = performance.now();
      while (!stopped.aborted) {
        const dueMs = startMs + (sentAtMs.length * 1000) / perSecond;
        await pause(Math.max(0, dueMs - performance.now()), [stopped]);
        if (stopped.aborted) return;
        const number = sentAtMs.push(performance.now());
        // One after the other, and never one twice: the order is what is looked at.
        await call("POST", path, { type, data: { scan_id: id, number } }, new AbortController().signal);
      }
    },
    async end() {
      await call("PATCH", `/api/v1/scans/${id}`, { status: "cancelled" }, new AbortController().signal);
    },
  };
}
