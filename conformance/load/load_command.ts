import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { GatewayRefusal, problemOf } from "../../command_line/gateway_call.ts";
import { printable } from "../../command_line/terminal.ts";
import { pause } from "../../shared/abortable.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { createEnvironmentReader } from "../../shared/environment_reader.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { runLoad, type LoadReport } from "./run_load.ts";
import { reportText } from "./report_text.ts";
import { isLoopback } from "../../shared/loopback.ts";

export interface LoadFlags {
  readonly streams: number;
  readonly seconds: number;
  readonly scan?: string;
  readonly publish: number;
  readonly allowRemote?: boolean;
  readonly format: string;
}

/** What the process opens besides the streams. */
const otherFiles = 64;

/** `load URL`: opens many streams of a gateway of one's own, and says what came. Resolves with the exit code. */
export async function loadCommand(url: string, flags: LoadFlags, io: CommandIo): Promise<number> {
  const access = parse(url, flags, io);
  const signal = AbortSignal.any([io.interrupted, io.stdoutFailed]);
  let report: LoadReport;
  try {
    report = await runLoad({
      access,
      streams: flags.streams,
      hold: () => pause(flags.seconds * 1000, [signal]),
      scanId: flags.scan ?? null,
      publish: flags.publish,
      signal,
      log: (line) => io.terminal.write(`${line}\n`),
    });
  } catch (error) {
    if (io.interrupted.aborted) return exitCodes.interrupted;
    io.terminal.write(`Cannot publish at ${access.gatewayUrl}: ${printable(problemOf(error))}\n`);
    return error instanceof GatewayRefusal && error.httpStatus !== 401 && error.httpStatus < 500
      ? exitCodes.usage
      : exitCodes.notAuthenticated;
  }
  io.stdout(flags.format === "json" ? `${toPrintableJson(report, 2)}\n` : reportText(report));
  if (io.interrupted.aborted) return exitCodes.interrupted;
  if (report.opened === 0) {
    io.terminal.write(`No stream of ${access.gatewayUrl} could be opened\n`);
    return exitCodes.notAuthenticated;
  }
  return report.lost > 0 ? exitCodes.findings : exitCodes.ok;
}

function parse(url: string, { streams, scan, publish, allowRemote }: LoadFlags, io: CommandIo) {
  const reader = createEnvironmentReader({ ...io.env, URL: url });
  const gatewayUrl = reader.url("URL", ["https:", "http:"], "http://127.0.0.1:8787");
  const apiKey = reader.pattern("SCANSTREAM_API_KEY", /^[\x21-\x7e]+$/, "a key as admin api-key create shows it");
  if (apiKey === null && reader.text("SCANSTREAM_API_KEY") === null) {
    reader.report("SCANSTREAM_API_KEY is not set: expected a key of a tenant that is there for this");
  }
  if (scan !== undefined && !isUuid(scan)) reader.report(`--scan ${JSON.stringify(scan)}: expected the UUID of a scan`);
  if (scan !== undefined && publish > 0) reader.report("--publish: expected without --scan: it registers its own");
  if (gatewayUrl !== null && allowRemote !== true && !isLoopback(new URL(gatewayUrl).hostname)) {
    reader.report(`URL ${new URL(gatewayUrl).origin} is not this machine: add --allow-remote if the gateway is yours`);
  }
  const limit = openFileLimit();
  if (limit !== null && streams + otherFiles > limit) {
    reader.report(
      `--streams ${streams}: this process may open ${limit} files: expected at most ${limit - otherFiles}, or ulimit -n ${streams + otherFiles} before; the gateway needs as many`,
    );
  }
  if (gatewayUrl === null || apiKey === null || reader.problems.length > 0) throw new UsageError(reader.problems);
  return { gatewayUrl, apiKey };
}

/** Null where the system has none, or more than a number says. */
function openFileLimit(): number | null {
  // Not in the types of Node 24's first releases; without it, the report looks up names.
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const limit = Number(userLimits?.open_files?.soft);
  return Number.isInteger(limit) ? limit : null;
}
