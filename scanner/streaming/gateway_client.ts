import * as v from "valibot";
import {
  createGatewayCall,
  GatewayRefusal,
  parseResource,
  problemOf,
  type GatewayCallOptions,
} from "../../command_line/gateway_call.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import type { StoredFinding } from "../../shared/schemas/finding.ts";
import { monitorSchema } from "../../shared/schemas/monitor.ts";
import type { MonitorUpdate, NewMonitor } from "../../shared/schemas/monitor_requests.ts";
import { scanSchema } from "../../shared/schemas/scan.ts";
import type { NewScan, ScanUpdate } from "../../shared/schemas/scan_requests.ts";

/** The gateway's REST resources as the scanner uses them. Every call is bounded in time; failures are thrown as `GatewayRefusal` or network errors. */
export interface GatewayClient {
  /** Registers a scan under a UUID from the scanner; the same call again gives the same scan. */
  putScan(scanId: string, body: ScanBody, signal: AbortSignal): Promise<RegisteredScan>;
  updateScan(scanId: string, body: ScanUpdate, signal: AbortSignal): Promise<ScanState>;
  readScan(scanId: string, signal: AbortSignal): Promise<ScanState>;
  storeFindings(scanId: string, findings: readonly FindingBody[], signal: AbortSignal): Promise<void>;
  /** The finished report as gzip: the same again changes nothing. A large one may take longer than another call. */
  storeReport(scanId: string, report: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Registers a monitor under a UUID from the scanner, or goes on with it after a restart. */
  putMonitor(monitorId: string, body: NewMonitor, signal: AbortSignal): Promise<RegisteredMonitor>;
  updateMonitor(monitorId: string, body: MonitorUpdate, signal: AbortSignal): Promise<void>;
  storeChanges(monitorId: string, changes: readonly NewChange[], signal: AbortSignal): Promise<void>;
}

export type ScanBody = Required<NewScan>;
export type FindingBody = Omit<StoredFinding, "created_at">;
export type RegisteredMonitor = v.InferOutput<typeof registeredMonitor>;
export type RegisteredScan = v.InferOutput<typeof registeredScan>;
export type ScanState = v.InferOutput<typeof scanState>;

/** Only what is used: a gateway of another release may answer other fields differently. */
const registeredScan = v.pick(scanSchema, ["id", "tenant_id", "channel"]);
const registeredMonitor = v.pick(monitorSchema, ["id", "last_look_at"]);
const scanState = v.object({
  status: v.fallback(v.string(), ""),
  cancel_requested: v.fallback(v.boolean(), false),
});

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
      const mebibytes = report.length / 1_048_576;
      const callLonger = createGatewayCall({
        ...options,
        timeoutMs: options.timeoutMs + Math.ceil(mebibytes * 10_000),
      });
      await callLonger("PUT", `/api/v1/scans/${scanId}/report`, report, signal);
    },
    async putMonitor(monitorId, body, signal) {
      return parseResource(registeredMonitor, await call("PUT", `/api/v1/monitors/${monitorId}`, body, signal));
    },
    async updateMonitor(monitorId, body, signal) {
      await call("PATCH", `/api/v1/monitors/${monitorId}`, body, signal);
    },
    async storeChanges(monitorId, changes, signal) {
      await call("POST", `/api/v1/monitors/${monitorId}/changes`, { changes }, signal);
    },
    async storeFindings(scanId, findings, signal) {
      await call("POST", `/api/v1/scans/${scanId}/findings`, { findings }, signal);
    },
  };
}

/** 4xx but 429: a retry would be refused as well. */
function isPermanent(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus < 500 && error.httpStatus !== 429;
}

interface RetryHooks {
  readonly onAccepted: () => void;
  /** Resolves when it is time for the next try; rejects to give up. */
  readonly beforeRetry: (error: unknown, failures: number) => Promise<void>;
}

/** Makes a function that sends until the gateway accepts. It rejects on a permanent refusal, and when `signal` aborts. */
export function createRetry(signal: AbortSignal, { onAccepted, beforeRetry }: RetryHooks) {
  return async <Answer>(send: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    for (let failures = 1; ; failures += 1) {
      signal.throwIfAborted();
      try {
        const answer = await send(signal);
        onAccepted();
        return answer;
      } catch (error) {
        if (signal.aborted || isPermanent(error)) throw error;
        await beforeRetry(error, failures);
      }
    }
  };
}

/** Checks the gateway's own words, because a 404 may be a proxy's, too. */
export function isMissing(error: unknown, what: "scan" | "monitor"): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 404 && error.message.includes(`No such ${what}`);
}

/** The gateway does not take this body, whenever it is sent; it may take another. */
export function isRefusedBody(error: unknown): boolean {
  return error instanceof GatewayRefusal && (error.httpStatus === 422 || error.httpStatus === 413);
}

/** A refused batch is stored in halves, so that only the item that the gateway refuses is lost. */
export async function storeAccepted<Item>(
  items: readonly Item[],
  store: (items: readonly Item[]) => Promise<void>,
  onRefused: (item: Item, problem: string) => void,
): Promise<void> {
  try {
    await store(items);
  } catch (error) {
    const [first] = items;
    if (!isRefusedBody(error)) throw error;
    if (first === undefined) return;
    if (items.length === 1) {
      onRefused(first, problemOf(error));
      return;
    }
    const half = Math.ceil(items.length / 2);
    await storeAccepted(items.slice(0, half), store, onRefused);
    await storeAccepted(items.slice(half), store, onRefused);
  }
}
