import * as v from "valibot";
import { pause } from "../abortable.ts";
import { networkProblem } from "../error_code.ts";
import { problemDetail } from "../problem_detail.ts";
import { readBounded, readRefusal } from "../read_bounded.ts";
import { parseRetryAfterMs } from "../retry_after.ts";
import { publishedSchema, type Published } from "../schemas/event.ts";
import { monitorSchema } from "../schemas/monitor.ts";
import type { MonitorUpdate, NewMonitor } from "../schemas/monitor_requests.ts";
import { scanSchema } from "../schemas/scan.ts";
import type { NewScan, ScanUpdate } from "../schemas/scan_requests.ts";
import type { CheckedEvent } from "../event.ts";

/** The gateway answered, and refused. */
export class GatewayRefusal extends Error {
  readonly httpStatus: number;

  constructor(httpStatus: number, message: string) {
    super(message);
    this.name = "GatewayRefusal";
    this.httpStatus = httpStatus;
  }
}

export interface GatewayCallOptions {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly apiKey: string;
  /** Bound on one call, in milliseconds. */
  readonly timeoutMs: number;
  /** How large an answer may be, decompressed. Default: 8 MiB. */
  readonly maxAnswerBytes?: number;
  readonly fetch?: typeof fetch;
}

/** Calls one REST resource; `body` is sent as JSON unless undefined; bytes are JSON in gzip. Null: the answer has no body. Rejects with `GatewayRefusal`, or as `fetch` does. */
export type GatewayCall = (method: string, path: string, body: unknown, signal: AbortSignal) => Promise<unknown>;

export function createGatewayCall(options: GatewayCallOptions): GatewayCall {
  const send = options.fetch ?? fetch;
  return async (method, path, body, signal) => {
    for (let retriesLeft = method === "GET" ? maxReadRetries : 0; ; retriesLeft -= 1) {
      const response = await send(new URL(path, options.url), {
        method,
        headers: {
          authorization: `Api-Key ${options.apiKey}`,
          "content-type": "application/json",
          accept: "application/json",
          ...(body instanceof Uint8Array && { "content-encoding": "gzip" }),
        },
        ...(body === undefined
          ? {}
          : { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
      });
      if (response.ok) {
        const bytes = await readBounded(response.body, options.maxAnswerBytes ?? defaultMaxAnswerBytes);
        return response.status === 204 ? null : JSON.parse(new TextDecoder().decode(bytes));
      }
      const refusal = new GatewayRefusal(response.status, refusalText(response.status, await readRefusal(response)));
      const waitMs = retriesLeft > 0 && isBusy(response) ? parseRetryAfterMs(response.headers, Date.now()) : null;
      if (waitMs === null || waitMs > maxRetryWaitMs) throw refusal;
      await pause(waitMs, [signal]);
    }
  };
}

/** A read that a busy gateway refuses is sent again after the wait that it asks for, unless that is longer than a person waits. */
const maxReadRetries = 3;
const maxRetryWaitMs = 5000;

function isBusy({ status }: Response): boolean {
  return status === 429 || status === 503;
}

/** A page of a list has half a mebibyte. */
const defaultMaxAnswerBytes = 8 * 1_048_576;

/** More pages than any list of a gateway has: 200,000 items. */
const maxPages = 1000;

export interface ListRequest<Page extends v.GenericSchema> {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly page: Page;
  readonly signal: AbortSignal;
}

/** The pages of a list, one after the other; throws as the call does, and `RangeError` for a list that does not end. */
export async function* readPages<Page extends v.GenericSchema<unknown, { readonly next_cursor: string | null }>>(
  call: GatewayCall,
  { path, query, page: schema, signal }: ListRequest<Page>,
): AsyncGenerator<v.InferOutput<Page>> {
  let cursor: string | null = null;
  for (let count = 1; count === 1 || cursor !== null; count += 1) {
    if (count > maxPages) throw new RangeError(`The gateway's list does not end after ${maxPages} pages`);
    const given = new URLSearchParams({ ...query, ...(cursor !== null && { cursor }) });
    const page: v.InferOutput<Page> = parseResource(schema, await call("GET", `${path}?${given}`, undefined, signal));
    cursor = page.next_cursor;
    yield page;
  }
}

export function parseResource<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  throw new TypeError(
    "Cannot read the gateway's response: it has an unexpected form; does SCANSTREAM_URL name a scanstream gateway?",
  );
}

/** In words: `fetch` says no more than "fetch failed", and names the reason only in its cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  if (isTimeout(error)) return "it does not answer";
  const problem = networkProblem(error.cause);
  if (problem === null && error.message !== "fetch failed") return error.message;
  return `${problem ?? "the connection failed"}; check SCANSTREAM_URL, and that the gateway runs`;
}

/** The call took longer than its time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** The problem document's own words, when there is one; a proxy's page says nothing that helps. */
function refusalText(httpStatus: number, body: string): string {
  const detail = problemDetail(body);
  return detail === null
    ? `HTTP status ${httpStatus}; is SCANSTREAM_URL the address of a scanstream gateway?`
    : `${httpStatus} ${detail}${httpStatus === 401 ? "; check SCANSTREAM_API_KEY" : ""}`;
}

/** The gateway's REST resources as producers use them. Every call is bounded in time, and rejects as `GatewayCall` does. */
export interface GatewayClient {
  /** Registers a scan under a UUID from the producer; the same call again gives the same scan. */
  putScan(scanId: string, body: Required<NewScan>, signal: AbortSignal): Promise<RegisteredScan>;
  updateScan(scanId: string, body: ScanUpdate, signal: AbortSignal): Promise<ScanState>;
  readScan(scanId: string, signal: AbortSignal): Promise<ScanState>;
  /** The finished report as gzip: the same again changes nothing. A large one may take longer than another call. */
  storeReport(scanId: string, report: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Registers a monitor under a UUID from the producer, or goes on with it after a restart. */
  putMonitor(monitorId: string, body: NewMonitor, signal: AbortSignal): Promise<RegisteredMonitor>;
  updateMonitor(monitorId: string, body: MonitorUpdate, signal: AbortSignal): Promise<void>;
  /** Publishes a batch of at most 500 events and 1 MiB, which the gateway takes as a whole or not at all. */
  publish(channel: string, events: readonly NumberedEvent[], signal: AbortSignal): Promise<Published>;
}

export interface NumberedEvent {
  readonly type: CheckedEvent["type"];
  readonly data: CheckedEvent["payload"];
  /** `<producer>.<n>`. */
  readonly delivery_id: string;
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
export type ScanState = v.InferOutput<typeof scanState>;

export function createGatewayClient(options: GatewayCallOptions): GatewayClient {
  const call = createGatewayCall(options);
  return {
    async putScan(scanId, body, signal) {
      return parseResource(registeredScan, await call("PUT", `/api/v1/scans/${scanId}`, body, signal));
    },
    async updateScan(scanId, body, signal) {
      return parseResource(scanState, await call("PATCH", `/api/v1/scans/${scanId}`, body, signal));
    },
    async readScan(scanId, signal) {
      return parseResource(scanState, await call("GET", `/api/v1/scans/${scanId}`, undefined, signal));
    },
    async storeReport(scanId, report, signal) {
      const timeoutMs = options.timeoutMs + Math.ceil((report.length / 1_048_576) * 10_000);
      await createGatewayCall({ ...options, timeoutMs })("PUT", `/api/v1/scans/${scanId}/report`, report, signal);
    },
    async putMonitor(monitorId, body, signal) {
      return parseResource(registeredMonitor, await call("PUT", `/api/v1/monitors/${monitorId}`, body, signal));
    },
    async updateMonitor(monitorId, body, signal) {
      await call("PATCH", `/api/v1/monitors/${monitorId}`, body, signal);
    },
    async publish(channel, events, signal) {
      const path = `/api/v1/channels/${encodeURIComponent(channel)}/events`;
      return parseResource(publishedSchema, await call("POST", path, { events }, signal));
    },
  };
}
