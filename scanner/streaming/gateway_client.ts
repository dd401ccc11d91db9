import * as v from "valibot";
import type { StoredFinding } from "../../shared/schemas/finding.ts";
import { problemSchema } from "../../shared/schemas/problem.ts";
import { scanSchema } from "../../shared/schemas/scan.ts";
import type { NewScan, ScanUpdate } from "../../shared/schemas/scan_requests.ts";

/** The gateway's REST resources as the scanner uses them. Every call is bounded in time; failures are thrown as `GatewayRefusal` or network errors. */
export interface GatewayClient {
  /** Registers a scan under a UUID of ours; the same call again gives the same scan. */
  putScan(scanId: string, body: ScanBody, signal: AbortSignal): Promise<RegisteredScan>;
  updateScan(scanId: string, body: ScanUpdate, signal: AbortSignal): Promise<ScanState>;
  readScan(scanId: string, signal: AbortSignal): Promise<ScanState>;
  storeFindings(scanId: string, findings: readonly FindingBody[], signal: AbortSignal): Promise<void>;
}

export type ScanBody = Required<NewScan>;
export type FindingBody = Omit<StoredFinding, "created_at">;
export type RegisteredScan = v.InferOutput<typeof registeredScan>;
export type ScanState = v.InferOutput<typeof scanState>;

/** Only what is used: a gateway of another release may answer other fields differently. */
const registeredScan = v.pick(scanSchema, ["id", "tenant_id", "channel"]);
const scanState = v.object({
  status: v.fallback(v.string(), ""),
  cancel_requested: v.fallback(v.boolean(), false),
});

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
      return parseScan(registeredScan, await call("PUT", `/api/v1/scans/${scanId}`, body, signal));
    },
    async updateScan(scanId, body, signal) {
      return parseScan(scanState, await call("PATCH", `/api/v1/scans/${scanId}`, body, signal));
    },
    async readScan(scanId, signal) {
      return parseScan(scanState, await call("GET", `/api/v1/scans/${scanId}`, undefined, signal));
    },
    async storeFindings(scanId, findings, signal) {
      await call("POST", `/api/v1/scans/${scanId}/findings`, { findings }, signal);
    },
  };
}

function parseScan<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  throw new TypeError(
    "Cannot read the gateway's answer: it is not a scan; does SCANSTREAM_URL name a scanstream gateway?",
  );
}

/** The problem document's own words, when there is one. */
function refusalText(httpStatus: number, body: string): string {
  try {
    const { success, output } = v.safeParse(v.pick(problemSchema, ["detail"]), JSON.parse(body));
    if (success) return `${httpStatus} ${output.detail}`;
  } catch {
    // Not JSON: a proxy's page says nothing that helps.
  }
  return `HTTP status ${httpStatus}`;
}
