import type { CommandIo } from "../../command_line/command_io.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { readCheckNames } from "../check_names.ts";
import type { Resource } from "../gateway_api.ts";
import { changeCommand, field, listCommand, type FormatFlag } from "../team/resource_output.ts";

export interface DecisionsListFlags extends FormatFlag {
  readonly all?: boolean;
  readonly kind?: string;
  readonly check?: string;
}

interface DecideFlags extends FormatFlag {
  readonly reason: string;
  readonly expires?: string;
  readonly orgUrl?: string;
}

export interface WaiveFlags extends DecideFlags {
  readonly resource?: string;
}

export interface AttestFlags extends DecideFlags {
  readonly status: string;
}

const path = "/api/v1/decisions";

/** `decisions list` */
export function decisionsListCommand(
  { format, all = false, check, ...filters }: DecisionsListFlags,
  io: CommandIo,
): Promise<number> {
  const named = check === undefined ? null : requireCheck(check, "--check", io);
  const query = new URLSearchParams({
    ...(all ? {} : { active: "true" }),
    ...filters,
    ...(named === null ? {} : { check: named }),
  });
  const columns = {
    DECISION: field("id"),
    KIND: field("kind"),
    STATE: field("state"),
    CHECK: field("check"),
    ABOUT: (decision: Resource) => decision["status"] ?? decision["resource"] ?? "every finding",
    EXPIRES: field("expires"),
    BY: field("by"),
    REASON: field("reason"),
  };
  return listCommand({ what: "decisions", path: query.size === 0 ? path : `${path}?${query}`, format, columns }, io);
}

/** `decisions waive CHECK` */
export function decisionsWaiveCommand(check: string, flags: WaiveFlags, io: CommandIo): Promise<number> {
  const { resource } = flags;
  return decide({ kind: "waiver", check, ...(resource === undefined ? {} : { resource }) }, flags, io);
}

/** `decisions attest CHECK` */
export function decisionsAttestCommand(check: string, flags: AttestFlags, io: CommandIo): Promise<number> {
  return decide({ kind: "attestation", check, status: flags.status }, flags, io);
}

/** `decisions withdraw ID` */
export function decisionsWithdrawCommand(id: string, io: CommandIo): Promise<number> {
  const problems = isUuid(id)
    ? []
    : [`ID ${JSON.stringify(id)}: expected the UUID of a decision, as \`decisions list\` shows it`];
  const what = { what: "withdraw the decision", done: `Withdrew ${id}: later scans ignore it` };
  return changeCommand({ ...what, method: "DELETE", path: `${path}/${id}`, problems }, io);
}

/** The name of the check; throws `UsageError` for a name that no rule has. */
function requireCheck(text: string, option: string, io: CommandIo): string {
  const { names, problems } = readCheckNames(text, { option, io });
  if (problems.length > 0) throw new UsageError(problems);
  return [...names].join(",");
}

function decide(about: Resource, flags: DecideFlags, io: CommandIo): Promise<number> {
  const { reason, expires, orgUrl, format } = flags;
  const body = {
    ...about,
    check: requireCheck(String(about["check"]), "CHECK", io),
    reason,
    ...(expires === undefined ? {} : { expires }),
    ...(orgUrl === undefined ? {} : { org_url: orgUrl }),
  };
  const what = about["kind"] === "waiver" ? "waive" : "attest";
  return changeCommand({ what, method: "POST", path, body, format }, io);
}
