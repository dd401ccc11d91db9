import * as v from "valibot";
import { GatewayRefusal, parseResource, type GatewayCall } from "../../command_line/gateway_call.ts";
import { pause } from "../../shared/abortable.ts";

/** The events 1, 2, 3, … of a run, on the channel of a scan that it has registered for itself. */
export interface PublishedEvents {
  readonly scanId: string;
  /** The last one whose request was sent; 0 before the first. */
  last(): number;
  sentMs(number: number): number;
  /** Null: an event of somebody else. */
  numberOf(type: string, data: Readonly<Record<string, unknown>>): number | null;
  /**
   * Publishes until the signal aborts. An event that the gateway could not take is sent again for `retryMs`, under the same delivery
   * id, so that nobody gets it twice. Rejects when the gateway still does not take it then.
   */
  publish(perSecond: number, signal: AbortSignal, retryMs?: number): Promise<void>;
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

  async function isTaken(event: object, untilMs: number): Promise<boolean> {
    try {
      await call("POST", path, event, new AbortController().signal);
      return true;
    } catch (error) {
      const isFinal = error instanceof GatewayRefusal && error.httpStatus < 500;
      if (isFinal || performance.now() >= untilMs) throw error;
      return false;
    }
  }

  return {
    scanId: id,
    last: () => sentAtMs.length,
    sentMs: (number) => sentAtMs[number - 1] ?? performance.now(),
    numberOf(eventType, data) {
      const { number } = data;
      return eventType === type && data["scan_id"] === id && typeof number === "number" ? number : null;
    },
    async publish(perSecond, stopped, retryMs = 0) {
      const startMs = performance.now();
      while (!stopped.aborted) {
        const dueMs = startMs + (sentAtMs.length * 1000) / perSecond;
        await pause(Math.max(0, dueMs - performance.now()), [stopped]);
        if (stopped.aborted) return;
        const number = sentAtMs.push(performance.now());
        const event = { type, data: { scan_id: id, number }, delivery_id: `load.${number}` };
        const untilMs = performance.now() + retryMs;
        // Each event waits for the one before it, because their order is checked.
        while (!(await isTaken(event, untilMs))) await pause(100, []);
      }
    },
    async end() {
      await call("PATCH", `/api/v1/scans/${id}`, { status: "cancelled" }, new AbortController().signal);
    },
  };
}
