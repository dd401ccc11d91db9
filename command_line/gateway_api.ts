import * as v from "valibot";
import type { CommandIo } from "./command_io.ts";
import { exitCodes } from "./exit_code.ts";
import type { GatewayAccess } from "./gateway_access.ts";
import { createGatewayCall, GatewayRefusal, parseResource, problemOf, readPages } from "./gateway_call.ts";
import { printable } from "./terminal.ts";
import { isUuid } from "../shared/channel_name.ts";

/** A resource or an event's payload, unchecked: any key of the tenant may have stored any text. */
export type Resource = Readonly<Record<string, unknown>>;

/** What the commands read and change. Every call rejects as `GatewayCall` does. */
export interface GatewayApi {
  /** Newest first, page by page, `most` in all. */
  listScans(most: number): AsyncGenerator<Page>;
  /** Null: none exists. */
  latestScanId(): Promise<string | null>;
  readScan(scanId: string): Promise<Resource>;
  cancelScan(scanId: string): Promise<Resource>;
  deleteScan(scanId: string): Promise<void>;
  /** The finished report that its scanner stored. */
  readReport(scanId: string): Promise<unknown>;
  /** Newest first, page by page. */
  listFindings(scanId: string): AsyncGenerator<Page>;
}

interface Page {
  readonly items: readonly Resource[];
  readonly hasMore: boolean;
}

const callTimeoutMs = 30_000;
/** As the gateway takes it. */
const maxReportBytes = 32 * 1_048_576;
const maxPageSize = 200;
const resource = v.record(v.string(), v.unknown());
const page = v.object({ items: v.array(resource), next_cursor: v.nullable(v.string()) });

function createGatewayApi({ gatewayUrl, apiKey }: GatewayAccess, signal: AbortSignal): GatewayApi {
  const options = { url: gatewayUrl, apiKey, timeoutMs: callTimeoutMs };
  const call = createGatewayCall(options);
  const callForReport = createGatewayCall({ ...options, maxAnswerBytes: maxReportBytes });

  async function* pages(path: string, most: number): AsyncGenerator<Page> {
    let left = most;
    const read = async (cursor: string | null) => {
      const query = new URLSearchParams({ limit: String(Math.min(left, maxPageSize)) });
      if (cursor !== null) query.set("cursor", cursor);
      const answer = await call("GET", `${path}?${query}`, undefined, signal);
      return parseResource(page, answer);
    };
    for await (const { items, next_cursor } of readPages(read)) {
      left -= items.length;
      yield { items, hasMore: next_cursor !== null };
      if (left <= 0) return;
    }
  }

  return {
    listScans: (most) => pages("/api/v1/scans", most),
    async latestScanId() {
      const { items } = parseResource(page, await call("GET", "/api/v1/scans?limit=1", undefined, signal));
      const id = items[0]?.["id"];
      return typeof id === "string" && isUuid(id) ? id : null;
    },
    async readScan(scanId) {
      return parseResource(resource, await call("GET", `/api/v1/scans/${scanId}`, undefined, signal));
    },
    async cancelScan(scanId) {
      return parseResource(resource, await call("POST", `/api/v1/scans/${scanId}/cancel`, undefined, signal));
    },
    async deleteScan(scanId) {
      await call("DELETE", `/api/v1/scans/${scanId}`, undefined, signal);
    },
    readReport: (scanId) => callForReport("GET", `/api/v1/scans/${scanId}/report`, undefined, signal),
    listFindings: (scanId) => pages(`/api/v1/scans/${scanId}/findings`, Infinity),
  };
}

export function scanIdProblems(scanId: string): readonly string[] {
  return isUuid(scanId) ? [] : [`SCAN_ID ${JSON.stringify(scanId)}: expected the UUID of a scan`];
}

/** Either an id or `--latest`. */
export function oneScanProblems(scanId: string | undefined, latest = false): readonly string[] {
  if (scanId === undefined) return latest ? [] : ["SCAN_ID is missing: expected the UUID of a scan, or --latest"];
  return latest ? ["--latest cannot be combined with SCAN_ID: give one of them"] : scanIdProblems(scanId);
}

/** The newest scan's id; null, and a line about it, when none exists. */
export async function requireLatest(api: Pick<GatewayApi, "latestScanId">, io: CommandIo): Promise<string | null> {
  const id = await api.latestScanId();
  if (id === null) io.terminal.write("--latest: the tenant has no scan yet\n");
  return id;
}

export interface GatewayWork {
  readonly access: GatewayAccess;
  readonly io: CommandIo;
  /** The exit code when what was asked for is refused; 2 unless given. */
  readonly refused?: number;
}

/** Runs one command's calls. A failure is one line, `Cannot list the scans: …`, and an exit code. */
export async function withGateway(
  what: string,
  { access, io, refused = exitCodes.usage }: GatewayWork,
  work: (api: GatewayApi) => Promise<number>,
): Promise<number> {
  const signal = AbortSignal.any([io.interrupted, io.stdoutFailed]);
  try {
    return await work(createGatewayApi(access, signal));
  } catch (error) {
    if (io.interrupted.aborted) return exitCodes.interrupted;
    if (io.stdoutFailed.aborted) return exitCodes.usage;
    io.terminal.write(`Cannot ${what}: ${printable(problemOf(error))}\n`);
    return isWrongRequest(error) ? refused : exitCodes.unread;
  }
}

/** The gateway is there and takes the key, and what was asked of it is wrong. */
function isWrongRequest(error: unknown): boolean {
  return error instanceof GatewayRefusal && [400, 404, 409, 422].includes(error.httpStatus);
}
