import type { CommandIo } from "../command_io.ts";
import { exitCodes } from "../exit_code.ts";
import { requireGatewayAccess } from "../gateway_access.ts";
import { printable } from "../terminal.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { createTenantText, eventText } from "./event_text.ts";
import { latestScanId, oneScanProblems, resource, withGateway, type Resource } from "../gateway_api.ts";

export interface WatchFlags {
  readonly format?: string;
  readonly latest?: boolean;
  readonly exitStatus?: boolean;
}

/**
 * `watch SCAN_ID`: follows one scan as an API-key client until its terminal event; without an id, everything of the tenant until it is
 * interrupted. Resolves with the exit code.
 */
export async function watchCommand(scanId: string | undefined, flags: WatchFlags, io: CommandIo): Promise<number> {
  const isTenant = scanId === undefined && flags.latest !== true;
  const access = requireGatewayAccess(io.env, [
    ...(isTenant ? [] : oneScanProblems(scanId, flags.latest)),
    ...(isTenant && flags.exitStatus === true
      ? ["--exit-status needs SCAN_ID or --latest, because the stream of a tenant does not end"]
      : []),
  ]);
  const isJson = flags.format === "json" || flags.format === "ndjson";
  const tenantText = createTenantText(io.colorStdout);
  const write = (type: string, data: Resource) => {
    const toText = () => (isTenant ? tenantText(type, data) : eventText(type, data, io.colorStdout));
    const text = isJson ? toPrintableJson(Object.assign({ type }, data, { type })) : toText();
    io.stdout(`${text}\n`);
  };
  let said = "";
  // An outage is tried again for hours, each time for the same reason.
  const say = (text: string) => {
    if (text !== said) io.terminal.write(`${text}\n`);
    said = text;
  };
  const follow = async (path: string, what: string): Promise<Followed> => {
    const subscription = subscribe<Record<string, Resource>>(new URL(`/api/v1/${path}`, access.url), {
      apiKey: access.apiKey,
      signal: AbortSignal.any([io.interrupted, io.stdoutFailed]),
      onEvent: ({ type, data }) => write(type, data),
      ...(isTenant ? { onSnapshot: (snapshot) => snapshot.forEach(({ type, data }) => write(type, data)) } : {}),
      onStateChange: (state, { error }) => {
        if (state === "reconnecting") say(`Reconnecting${error === null ? "" : `: ${printable(error.message)}`}`);
        if (state === "live") say(`Following ${what}`);
      },
    });
    const end = await subscription.finished;
    if (end.state === "failed") throw end.error;
    return end.state === "closed" ? "closed" : (end.event?.data ?? null);
  };

  if (isTenant) {
    return withGateway("follow the tenant", { access, io }, async () => {
      await follow("event-stream", "the tenant");
      return closedCode(io);
    });
  }
  return withGateway("follow the scan", { access, io, refused: exitCodes.refused }, async (gateway, signal) => {
    const id = scanId ?? (await latestScanId(gateway, signal));
    const followed = await follow(`scans/${id}/event-stream`, `scan ${id}`);
    if (followed === "closed") return closedCode(io);
    const end = followed ?? endOf(await gateway.get(`/api/v1/scans/${id}`, resource, signal));
    if (followed === null) write("scan.end", end);
    return flags.exitStatus === true && !isClean(end) ? exitCodes.findings : exitCodes.ok;
  });
}

/** The terminal event's payload; null: it had ended before the stream could open. */
type Followed = Resource | null | "closed";

function closedCode(io: CommandIo): number {
  return io.interrupted.aborted ? exitCodes.interrupted : exitCodes.ok;
}

/** Returns the payload of the event that would have been the last, from the scan's state. */
function endOf({ id, status, pass, fail, manual, not_applicable }: Resource): Resource {
  return { scan_id: id, status, pass, fail, manual, not_applicable };
}

function isClean({ status, fail }: Resource): boolean {
  return status === "completed" && fail === 0;
}
