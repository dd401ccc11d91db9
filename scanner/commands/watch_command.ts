import { isUuid } from "../../shared/channel_name.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import type { ScanEvents } from "../../shared/schemas/scan_events.ts";
import type { Scan } from "../../shared/schemas/scan.ts";
import { shorten, toPrintableJson } from "../../shared/text.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { readStreamConfig } from "../streaming/stream_config.ts";
import { paintStatus, printable } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";

/** An unchecked payload: any API key of the tenant may publish any type, with any fields. */
type Payload = Readonly<Record<string, unknown>>;
type FieldName = { [Type in keyof ScanEvents]: keyof ScanEvents[Type] }[keyof ScanEvents];

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
  const write = (type: string, data: Payload) => {
    const text = isJson
      ? toPrintableJson(Object.assign({ type }, data, { type }))
      : eventText(type, data, io.colorStdout);
    io.stdout(`${text}\n`);
  };
  const subscription = subscribe<Record<string, Payload>>(`${url}/event-stream`, {
    apiKey: config.apiKey,
    signal: AbortSignal.any([io.interrupted, io.stdoutFailed]),
    onEvent: ({ type, data }) => write(type, data),
    onStateChange: (state, { error }) => {
      if (state === "reconnecting")
        io.terminal.write(`Reconnecting${error === null ? "" : `: ${printable(error.message)}`}\n`);
      if (state === "live") io.terminal.write(`Following scan ${scanId}\n`);
    },
  });
  const end = await subscription.finished;
  if (end.state === "closed") return io.interrupted.aborted ? exitCodes.interrupted : exitCodes.ok;
  if (end.state === "failed") return cannotFollow(end.error, io);
  if (end.event === null) {
    try {
      write("scan.end", await fetchState(url, config.apiKey));
    } catch (error) {
      return cannotFollow(error, io);
    }
  }
  return exitCodes.ok;
}

function cannotFollow(error: unknown, io: CommandIo): number {
  io.terminal.write(`Cannot follow the scan: ${printable(error instanceof Error ? error.message : String(error))}\n`);
  return exitCodes.notAuthenticated;
}

function eventText(type: string, data: Payload, color: boolean): string {
  const field = (name: FieldName) => valueText(data[name]);
  const status = () => statusText(data["status"], color);
  switch (type) {
    case "scan.start":
      return `Scan ${field("scan_id")} started: ${field("checks_total")} checks`;
    case "scan.progress":
      return `[${field("checks_done")}/${field("checks_total")}] ${status()} ${field("check")}`;
    case "finding.created":
      return `${status()} ${field("check")}: ${field("detail")}`;
    case "scan.error":
      return `${type} ${field("code")}: ${field("detail")}`;
    case "scan.end":
      return `Scan ${field("status")}: ${field("pass")} passed, ${field("fail")} failed, ${field("manual")} for a person`;
    default:
      return `${printable(type)} ${valueText(data)}`;
  }
}

function statusText(status: unknown, color: boolean): string {
  const text = valueText(status).padEnd(6);
  return status === "PASS" || status === "FAIL" || status === "MANUAL" ? paintStatus(text, status, { color }) : text;
}

const maxValueLength = 1000;

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "?");
  return printable(shorten(text, maxValueLength));
}

/** The scan had ended before the stream could open: what would have been its last event, from its state. */
async function fetchState(url: URL, apiKey: string): Promise<Payload> {
  const response = await fetch(url, {
    headers: { authorization: `Api-Key ${apiKey}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  const { id, status, pass, fail, manual } = (await response.json()) as Partial<Scan>;
  return { scan_id: id, status, pass, fail, manual };
}
