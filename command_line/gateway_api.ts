import * as v from "valibot";
import type { CommandIo } from "./command_io.ts";
import { exitCodes } from "./exit_code.ts";
import type { GatewayAccess } from "./gateway_access.ts";
import { openGateway, problemOf, type RestClient } from "../shared/client/gateway_client.ts";
import { GatewayRefusal } from "../shared/http_refusal.ts";
import { writeLines } from "./terminal.ts";
import { isUuid } from "../shared/channel_name.ts";
import { ContentError, UsageError } from "../shared/usage_error.ts";

/** A resource or an event's payload, unchecked: any key of the tenant may have stored any text. */
export type Resource = Readonly<Record<string, unknown>>;

export const resource = v.record(v.string(), v.unknown());
const page = v.object({ items: v.array(resource) });
const callTimeoutMs = 30_000;

/** Problems of what should be either an id or `--latest`. */
export function oneScanProblems(scanId: string | undefined, latest = false): readonly string[] {
  if (scanId === undefined) return latest ? [] : ["SCAN_ID is missing: expected the UUID of a scan, or --latest"];
  if (latest) return ["--latest cannot be combined with SCAN_ID: give one of them"];
  return isUuid(scanId) ? [] : [`SCAN_ID ${JSON.stringify(scanId)}: expected the UUID of a scan`];
}

/** Returns the id of the newest scan. Throws `UsageError` when the tenant has none. */
export async function latestScanId(gateway: RestClient, signal: AbortSignal): Promise<string> {
  const { items } = await gateway.get("/api/v1/scans?limit=1", page, signal);
  const id = items[0]?.["id"];
  if (typeof id === "string" && isUuid(id)) return id;
  throw new UsageError(["--latest: the tenant has no scan yet"]);
}

export interface GatewayWork {
  readonly access: GatewayAccess;
  readonly io: CommandIo;
  /** The exit code when what was asked for is refused; 2 unless given. */
  readonly refused?: number;
  /** Bound of one answer. */
  readonly maxAnswerBytes?: number;
}

/** Runs one command's calls. A failure is one line, `Cannot read the report: …`, and an exit code. */
export async function withGateway<Result>(
  what: string,
  { access, io, refused = exitCodes.usage, ...bounds }: GatewayWork,
  work: (gateway: RestClient, signal: AbortSignal) => Promise<Result>,
): Promise<Result | number> {
  const signal = AbortSignal.any([io.interrupted, io.stdoutFailed]);
  try {
    return await work(openGateway({ ...access, timeoutMs: callTimeoutMs, ...bounds }), signal);
  } catch (error) {
    if (error instanceof UsageError && !(error instanceof ContentError)) throw error;
    if (io.interrupted.aborted) return exitCodes.interrupted;
    if (io.stdoutFailed.aborted) return exitCodes.usage;
    // The error of a stream begins with the same words, and its address.
    writeLines(io, `Cannot ${what}: ${problemOf(error).replace(/^Cannot follow "[^"]*": /, "")}`);
    return isWrongRequest(error) ? refused : exitCodes.refused;
  }
}

/** The gateway is there and takes the key, and what was asked of it is wrong. */
function isWrongRequest(error: unknown): boolean {
  return error instanceof GatewayRefusal && [400, 404, 409, 422].includes(error.httpStatus);
}
