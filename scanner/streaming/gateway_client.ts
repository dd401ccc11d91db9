import { isJsonObject } from "../../shared/json.ts";
import type { Coverage, ManualReason, Severity, Status, StatusCounts } from "../../shared/report.ts";
import type { ScanEndStatus } from "../../shared/scan_events.ts";

/** The gateway's REST resources as the scanner uses them. Every call is bounded in time; failures are thrown as `GatewayRefusal` or network errors. */
export interface GatewayClient {
  /** Registers a scan under a UUID of ours; the same call again gives the same scan. */
  putScan(scanId: string, body: NewScan, signal: AbortSignal): Promise<RegisteredScan>;
  updateScan(scanId: string, body: ScanUpdate, signal: AbortSignal): Promise<ScanState>;
  readScan(scanId: string, signal: AbortSignal): Promise<ScanState>;
  storeFindings(scanId: string, findings: readonly StoredFinding[], signal: AbortSignal): Promise<void>;
}

export interface NewScan {
  readonly org_url: string;
  readonly client_id: string;
  readonly checks_total: number;
}

export interface RegisteredScan {
  readonly id: string;
  readonly tenant_id: string;
  readonly channel: string;
}

export interface ScanUpdate extends Partial<StatusCounts> {
  readonly status?: "running" | Exclude<ScanEndStatus, "expired">;
  readonly checks_done?: number;
  readonly checks_total?: number;
}

export interface ScanState {
  readonly status: string;
  readonly cancel_requested: boolean;
}

/** A finding as the gateway stores it: flat, with its check. */
export interface StoredFinding {
  readonly fingerprint: string;
  readonly check: string;
  readonly status: Status;
  readonly reason: ManualReason | null;
  readonly severity: Severity;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly resource_name: string;
  readonly expected: string;
  readonly actual: string;
  readonly detail: string;
  readonly coverage: Coverage;
  readonly coverage_reason: string | null;
  readonly advisory: boolean;
}

/** The gateway answered, and refused. */
export class GatewayRefusal extends Error {
  readonly httpStatus: number;

  constructor(httpStatus: number, message: string) {
    super(message);
    this.name = "GatewayRefusal";
    this.httpStatus = httpStatus;
  }
}

export interface GatewayClientOptions {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly apiKey: string;
  /** For one call, in milliseconds. */
  readonly timeoutMs: number;
  readonly fetch?: typeof fetch;
}

export function createGatewayClient(options: GatewayClientOptions): GatewayClient {
  const send = options.fetch ?? fetch;

  async function call(method: string, path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const response = await send(new URL(path, options.url), {
      method,
      headers: {
        authorization: `Api-Key ${options.apiKey}`,
        "content-type": "application/json",
        accept: "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
    });
    const text = await response.text();
    if (!response.ok) throw new GatewayRefusal(response.status, refusalText(response.status, text));
    return JSON.parse(text);
  }

  return {
    async putScan(scanId, body, signal) {
      return parseRegistered(await call("PUT", `/api/v1/scans/${scanId}`, body, signal));
    },
    async updateScan(scanId, body, signal) {
      return toState(await call("PATCH", `/api/v1/scans/${scanId}`, body, signal));
    },
    async readScan(scanId, signal) {
      return toState(await call("GET", `/api/v1/scans/${scanId}`, undefined, signal));
    },
    async storeFindings(scanId, findings, signal) {
      await call("POST", `/api/v1/scans/${scanId}/findings`, { findings }, signal);
    },
  };
}

function parseRegistered(answer: unknown): RegisteredScan {
  if (isJsonObject(answer)) {
    const { id, tenant_id, channel } = answer;
    if (typeof id === "string" && typeof tenant_id === "string" && typeof channel === "string") {
      return { id, tenant_id, channel };
    }
  }
  throw new TypeError(
    "Cannot register the scan: the answer is not a scan; does SCANSTREAM_URL name a scanstream gateway?",
  );
}

function toState(answer: unknown): ScanState {
  const { status, cancel_requested } = isJsonObject(answer) ? answer : {};
  return { status: String(status), cancel_requested: cancel_requested === true };
}

/** The problem document's own words, when there is one. */
function refusalText(httpStatus: number, body: string): string {
  try {
    const problem: unknown = JSON.parse(body);
    if (isJsonObject(problem) && typeof problem["detail"] === "string") return `${httpStatus} ${problem["detail"]}`;
  } catch {
    // Not JSON: a proxy's page says nothing that helps.
  }
  return `HTTP status ${httpStatus}`;
}
