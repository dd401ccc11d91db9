import { requireGatewayAccess } from "../command_line/gateway_access.ts";
import type { CommandIo } from "../command_line/command_io.ts";
import { exitCodes } from "../command_line/exit_code.ts";
import { ruleStates } from "../shared/rule_result.ts";
import { vulnIdOf } from "../shared/rule_names.ts";
import { categoryText } from "../shared/severity.ts";
import { parseStates, stateWords } from "../shared/rule_states.ts";
import { shorten, toPrintableJson } from "../shared/text.ts";
import {
  oneScanProblems,
  requireLatest,
  scanIdProblems,
  withGateway,
  type GatewayApi,
  type Resource,
} from "../command_line/gateway_api.ts";
import { readCheckNames } from "./check_names.ts";
import { entriesText, tableText, valueText } from "./printing.ts";

export interface ListFlags {
  readonly format: string;
}

export interface ScansListFlags extends ListFlags {
  readonly limit: number;
}

export interface FindingsListFlags extends ListFlags {
  readonly latest?: boolean;
  /** Separated by commas. */
  readonly status?: string;
  /** Names of rules, separated by commas. */
  readonly check?: string;
}

const maxDetailLength = 100;

/** `scans list`: the tenant's scans, newest first. */
export function scansListCommand(flags: ScansListFlags, io: CommandIo): Promise<number> {
  const access = requireGatewayAccess(io.env, []);
  return withGateway("list the scans", { access, io }, async (api) => {
    const hasMore = await writeList(api.listScans(flags.limit), flags.format, { io, toTable: scansTable });
    if (hasMore) io.terminal.write(`There are more scans than these ${flags.limit}: --limit shows them\n`);
    return exitCodes.ok;
  });
}

/** `scans show SCAN_ID`. */
export function scansShowCommand(scanId: string, flags: ListFlags, io: CommandIo): Promise<number> {
  return withOneScan(scanId, { what: "show the scan", flags, io }, (api) => api.readScan(scanId));
}

/** `scans cancel SCAN_ID`: asks its producer to stop. */
export function scansCancelCommand(scanId: string, flags: ListFlags, io: CommandIo): Promise<number> {
  return withOneScan(scanId, { what: "cancel the scan", flags, io }, (api) => api.cancelScan(scanId));
}

/** `scans delete SCAN_ID`: with its findings and its report. */
export function scansDeleteCommand(scanId: string, io: CommandIo): Promise<number> {
  const access = requireGatewayAccess(io.env, scanIdProblems(scanId));
  return withGateway("delete the scan", { access, io }, async (api) => {
    await api.deleteScan(scanId);
    io.terminal.write(`Deleted scan ${scanId}\n`);
    return exitCodes.ok;
  });
}

/** `findings list SCAN_ID`: every finding of a scan. */
export function findingsListCommand(
  scanId: string | undefined,
  flags: FindingsListFlags,
  io: CommandIo,
): Promise<number> {
  const states = flags.status === undefined ? ruleStates : parseStates(flags.status);
  const checks = flags.check === undefined ? null : readCheckNames(flags.check, { option: "--check", io });
  const access = requireGatewayAccess(io.env, [
    ...oneScanProblems(scanId, flags.latest),
    ...(states === null ? [`--status ${JSON.stringify(flags.status)}: expected ${stateWords}`] : []),
    ...(checks?.problems ?? []),
  ]);
  return withGateway("list the findings", { access, io }, async (api) => {
    const id = scanId ?? (await requireLatest(api, io));
    if (id === null) return exitCodes.usage;
    const isWanted = (finding: Resource) =>
      (states ?? ruleStates).some((state) => state === stateText(finding)) &&
      (checks === null || checks.names.has(String(finding["check"])));
    await writeList(chosen(api.listFindings(id), isWanted), flags.format, { io, toTable: findingsTable });
    return exitCodes.ok;
  });
}

type Pages = ReturnType<GatewayApi["listScans"]>;

async function* chosen(pages: Pages, isWanted: (finding: Resource) => boolean): Pages {
  for await (const { items, hasMore } of pages) yield { items: items.filter(isWanted), hasMore };
}

interface ListOutput {
  readonly io: CommandIo;
  readonly toTable: (items: readonly Resource[]) => string;
}

/** Writes a list page by page. Resolves with whether there are more than were asked for. */
async function writeList(pages: Pages, format: string, { io, toTable }: ListOutput): Promise<boolean> {
  const all: Resource[] = [];
  let isMore = false;
  for await (const { items, hasMore } of pages) {
    isMore = hasMore;
    // Line by line, so that a pipeline begins with the first page.
    if (format === "ndjson") for (const item of items) io.stdout(`${toPrintableJson(item)}\n`);
    else all.push(...items);
  }
  if (format === "json") io.stdout(`${toPrintableJson(all, 2)}\n`);
  if (format === "table") io.stdout(all.length === 0 ? "Nothing found\n" : toTable(all));
  return isMore;
}

function scansTable(scans: readonly Resource[]): string {
  const header = ["SCAN", "STATUS", "CHECKS", "PASS", "FAIL", "MANUAL", "N/A", "CREATED", "ORG"];
  return tableText(
    header,
    scans.map((scan) => [
      valueText(scan["id"]),
      valueText(scan["status"]),
      `${valueText(scan["checks_done"])}/${valueText(scan["checks_total"])}`,
      ...["pass", "fail", "manual", "not_applicable", "created_at", "org_url"].map((name) => valueText(scan[name])),
    ]),
  );
}

/** A payload is unchecked, so this may be another word than the four states. */
function stateText({ status, reason }: Resource): string {
  return status === "MANUAL" && reason === "not_applicable" ? reason : String(status).toLowerCase();
}

/** Failures first, and what was found. */
function findingsTable(findings: readonly Resource[]): string {
  const rank = (finding: Resource) => ruleStates.findIndex((state) => state === stateText(finding));
  return tableText(
    ["STATUS", "RULE", "CAT", "RESOURCE", "FOUND"],
    findings
      .toSorted((one, other) => rank(one) - rank(other))
      .map((finding) => [
        stateText(finding) === "not_applicable" ? "N/A" : valueText(finding["status"]),
        vulnIdOf(valueText(finding["check"])),
        categoryText(valueText(finding["severity"])),
        valueText(finding["resource_name"]),
        shorten(valueText(finding["actual"]), maxDetailLength),
      ]),
  );
}

interface OneScan {
  readonly what: string;
  readonly flags: ListFlags;
  readonly io: CommandIo;
}

function withOneScan(
  scanId: string,
  { what, flags, io }: OneScan,
  work: (api: GatewayApi) => Promise<Resource>,
): Promise<number> {
  const access = requireGatewayAccess(io.env, scanIdProblems(scanId));
  return withGateway(what, { access, io }, async (api) => {
    const scan = await work(api);
    io.stdout(flags.format === "json" ? `${toPrintableJson(scan, 2)}\n` : entriesText(scan));
    return exitCodes.ok;
  });
}
