import { isUuid } from "../shared/channel_name.ts";
import type { FindingCreated, ScanEnd, ScanError, ScanProgress, ScanStart } from "../shared/scan_events.ts";
import { subscribe } from "../shared/subscribe.ts";
import type { CommandIo } from "./command_io.ts";
import { exitCodes } from "./exit_code.ts";
import { readStreamConfig } from "./stream_config.ts";
import { paintStatus, printable } from "./terminal.ts";
import { UsageError } from "./usage_error.ts";

interface ScanEvents {
  readonly "scan.start": ScanStart;
  readonly "scan.progress": ScanProgress;
  readonly "finding.created": FindingCreated;
  readonly "scan.error": ScanError;
  readonly "scan.end": ScanEnd;
}

export interface WatchFlags {
  readonly format?: string;
}

/** `watch SCAN_ID`: follows one scan as an API-key client until its terminal event. Resolves with the exit code. */
export async function watchCommand(scanId: string, flags: WatchFlags, io: CommandIo): Promise<number> {
  const config = readStreamConfig(io.env);
  const isJson = flags.format === "json" || flags.format === "ndjson";
  const problems = [
    ...(isUuid(scanId) ? [] : [`SCAN_ID ${JSON.stringify(scanId)}: expected the UUID of a scan`]),
    ...(config === null
      ? ["SCANSTREAM_URL and SCANSTREAM_API_KEY: are not set: expected a gateway and a key of it"]
      : []),
    ...(flags.format === undefined || flags.format === "text" || isJson
      ? []
      : [`--format ${JSON.stringify(flags.format)}: expected text or json`]),
  ];
  if (config === null || problems.length > 0) throw new UsageError(problems);

  const url = new URL(`/api/v1/scans/${scanId}`, config.gatewayUrl);
  const subscription = subscribe<ScanEvents>(`${url}/event-stream`, {
    apiKey: config.apiKey,
    signal: io.interrupted,
    onEvent: ({ type, data }) =>
      io.stdout(
        isJson ? `${JSON.stringify({ type, ...data })}\n` : `${eventText(type, data, { color: io.colorStdout })}\n`,
      ),
    onStateChange: (state, { error }) => {
      if (state === "reconnecting") io.terminal.write(`Reconnecting${error === null ? "" : `: ${error.message}`}\n`);
      if (state === "live") io.terminal.write(`Following scan ${scanId}\n`);
    },
  });
  const end = await subscription.finished;
  if (end.state === "closed") return exitCodes.interrupted;
  if (end.state === "failed") {
    io.terminal.write(`Cannot follow the scan: ${end.error.message}\n`);
    return exitCodes.notAuthenticated;
  }
  if (end.event === null) {
    const scan = await fetchState(url, config.apiKey);
    io.stdout(isJson ? `${JSON.stringify({ type: "scan.end", ...scan })}\n` : `${endText(scan)}\n`);
  }
  return exitCodes.ok;
}

function eventText(type: string, data: ScanEvents[keyof ScanEvents], terminal: { readonly color: boolean }): string {
  if ("fingerprint" in data) {
    const status = paintStatus(data.status.padEnd(6), data.status, terminal);
    return `${status} ${data.check}: ${printable(data.detail)}`;
  }
  if ("check" in data)
    return `[${data.checks_done}/${data.checks_total}] ${paintStatus(data.status.padEnd(6), data.status, terminal)} ${data.check}`;
  if ("pass" in data) return endText(data);
  if ("code" in data) return `${type} ${data.code}: ${printable(data.detail)}`;
  return `Scan ${data.scan_id} started: ${data.checks_total} checks`;
}

function endText(scan: Omit<ScanEnd, "scan_id">): string {
  return `Scan ${scan.status}: ${scan.pass} passed, ${scan.fail} failed, ${scan.manual} for a person`;
}

/** The scan had ended before the stream could open: what would have been its last event, from its state. */
async function fetchState(url: URL, apiKey: string): Promise<ScanEnd> {
  const response = await fetch(url, {
    headers: { authorization: `Api-Key ${apiKey}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`Cannot read the scan: HTTP status ${response.status}`);
  const { id, status, pass, fail, manual } = (await response.json()) as ScanEnd & { readonly id: string };
  return { scan_id: id, status, pass, fail, manual };
}
