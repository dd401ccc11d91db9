import * as v from "valibot";
import { networkProblem } from "../error_code.ts";
import { publishedSchema } from "../schemas/event.ts";
import { monitorSchema, type MonitorUpdate, type NewMonitor } from "../schemas/monitor.ts";
import { scanSchema, type NewScan, type ScanUpdate } from "../schemas/scan.ts";
import { GatewayRefusal } from "../http_refusal.ts";
import { createRestClient, UnexpectedAnswer, type RestClient, type RestOptions } from "./rest_client.ts";

export interface GatewayOptions extends Omit<RestOptions, "fetch"> {
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
}

/** The gateway's resources for whoever has an API key, as the command line does. */
export function openGateway({ apiKey, fetch: send = fetch, ...options }: GatewayOptions): RestClient {
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Api-Key ${apiKey}`);
    return send(input, { ...init, headers });
  };
  return createRestClient({ ...options, fetch: withKey });
}

/** In words: `fetch` says no more than "fetch failed", and names the reason only in its cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  if (isTimeout(error)) return "it does not answer";
  if (error instanceof UnexpectedAnswer) return `${error.message}; does SCANSTREAM_URL name a scanstream gateway?`;
  if (error instanceof GatewayRefusal) {
    const { httpStatus, detail } = error;
    return detail === null
      ? `HTTP status ${httpStatus}; is SCANSTREAM_URL the address of a scanstream gateway?`
      : `${httpStatus} ${detail}${httpStatus === 401 ? "; check SCANSTREAM_API_KEY" : ""}`;
  }
  const problem = networkProblem(error.cause);
  if (problem === null && error.message !== "fetch failed") return error.message;
  return `${problem ?? "the connection failed"}; check SCANSTREAM_URL, and that the gateway runs`;
}

/** The call took longer than its time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** Only what is used: a gateway of another release may answer other fields differently. */
const registeredScan = v.pick(scanSchema, ["id", "tenant_id", "channel"]);
const registeredMonitor = v.pick(monitorSchema, ["id", "channel", "last_look_at"]);
const scanState = v.object({
  status: v.fallback(v.string(), ""),
  cancel_requested: v.fallback(v.boolean(), false),
});

export type RegisteredScan = v.InferOutput<typeof registeredScan>;
export type RegisteredMonitor = v.InferOutput<typeof registeredMonitor>;

/** The gateway's REST resources as producers use them. Every call is bounded in time, and rejects as `RestClient` does. */
export type GatewayClient = ReturnType<typeof createGatewayClient>;

export function createGatewayClient(options: GatewayOptions) {
  const rest = openGateway(options);
  return {
    /** Registers a scan under a UUID from the producer; the same call again gives the same scan. */
    async putScan(scanId: string, body: Required<NewScan>, signal: AbortSignal) {
      return rest.ask("PUT", `/api/v1/scans/${scanId}`, registeredScan, { body, signal });
    },
    async updateScan(scanId: string, body: ScanUpdate, signal: AbortSignal) {
      return rest.ask("PATCH", `/api/v1/scans/${scanId}`, scanState, { body, signal });
    },
    readScan: (scanId: string, signal: AbortSignal) => rest.get(`/api/v1/scans/${scanId}`, scanState, signal),
    /** The finished report as gzip: the same again changes nothing. A large one may take longer than another call. */
    async storeReport(scanId: string, body: Uint8Array, signal: AbortSignal) {
      const timeoutMs = options.timeoutMs + Math.ceil((body.length / 1_048_576) * 10_000);
      await openGateway({ ...options, timeoutMs }).send("PUT", `/api/v1/scans/${scanId}/report`, { body, signal });
    },
    /** Registers a monitor under a UUID from the producer, or goes on with it after a restart. */
    async putMonitor(monitorId: string, body: NewMonitor, signal: AbortSignal) {
      const path = `/api/v1/monitors/${monitorId}`;
      return rest.ask("PUT", path, registeredMonitor, { body, signal });
    },
    async updateMonitor(monitorId: string, body: MonitorUpdate, signal: AbortSignal) {
      await rest.send("PATCH", `/api/v1/monitors/${monitorId}`, { body, signal });
    },
    /** Publishes a batch of messages, which the gateway takes as a whole or not at all. */
    async publish(channel: string, events: readonly string[], signal: AbortSignal) {
      const path = `/api/v1/channels/${encodeURIComponent(channel)}/events`;
      return rest.ask("POST", path, publishedSchema, { body: `{"events":[${events.join(",")}]}`, signal });
    },
  };
}
