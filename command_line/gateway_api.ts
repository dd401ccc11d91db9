import * as v from "valibot";
import type { CommandIo } from "./command_io.ts";
import { exitCodes } from "./exit_code.ts";
import type { GatewayAccess } from "./gateway_access.ts";
import { GatewayRefusal, openGateway, problemOf } from "../shared/client/gateway_client.ts";
import { printable } from "./terminal.ts";
import { isUuid } from "../shared/channel_name.ts";
import { UsageError } from "../shared/usage_error.ts";

/** A resource or an event's payload, unchecked: any key of the tenant may have stored any text. */
export type Resource = Readonly<Record<string, unknown>>;

/** The gateway's lists that the commands read. Every call rejects as `RestClient` does. */
export interface GatewayApi {
  /** Null: none exists. */
  latestScanId(): Promise<string | null>;
  readScan(scanId: string): Promise<Resource>;
  /** The finished report that its scanner stored. */
  readReport(scanId: string): Promise<unknown>;
}

const callTimeoutMs = 30_000;
/** More than a report has that is 4 MiB compressed. */
const maxReportBytes = 128 * 1_048_576;
const resource = v.record(v.string(), v.unknown());
const page = v.object({ items: v.array(resource) });

function createGatewayApi({ gatewayUrl, apiKey }: GatewayAccess, signal: AbortSignal): GatewayApi {
  const options = { url: gatewayUrl, apiKey, timeoutMs: callTimeoutMs };
  const gateway = openGateway(options);
  return {
    async latestScanId() {
      const { items } = await gateway.get("/api/v1/scans?limit=1", page, signal);
      const id = items[0]?.["id"];
      return typeof id === "string" && isUuid(id) ? id : null;
    },
    readScan: (scanId) => gateway.get(`/api/v1/scans/${scanId}`, resource, signal),
    readReport: (scanId) =>
      openGateway({ ...options, maxAnswerBytes: maxReportBytes }).send("GET", `/api/v1/scans/${scanId}/report`, {
        signal,
      }),
  };
}

function scanIdProblems(scanId: string): readonly string[] {
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

/** Runs one command's calls. A failure is one line, `Cannot read the report: …`, and an exit code. */
export async function withGateway<Result>(
  what: string,
  { access, io, refused = exitCodes.usage }: GatewayWork,
  work: (api: GatewayApi, signal: AbortSignal) => Promise<Result>,
): Promise<Result | number> {
  const signal = AbortSignal.any([io.interrupted, io.stdoutFailed]);
  try {
    return await work(createGatewayApi(access, signal), signal);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (io.interrupted.aborted) return exitCodes.interrupted;
    if (io.stdoutFailed.aborted) return exitCodes.usage;
    io.terminal.write(`Cannot ${what}: ${printable(problemOf(error))}\n`);
    return isWrongRequest(error) ? refused : exitCodes.refused;
  }
}

/** The gateway is there and takes the key, and what was asked of it is wrong. */
function isWrongRequest(error: unknown): boolean {
  return error instanceof GatewayRefusal && [400, 404, 409, 422].includes(error.httpStatus);
}
