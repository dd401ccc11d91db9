import type { CommandIo } from "../command_line/command_io.ts";
import { requireGatewayAccess } from "../command_line/gateway_access.ts";
import { exitCodes } from "../command_line/exit_code.ts";
import { withGateway } from "./gateway_api.ts";
import { oneScanProblems, requireLatest } from "./list_commands.ts";

export interface ReportFlags {
  readonly format?: string;
  readonly output?: string;
  readonly latest?: boolean;
  readonly sign?: string;
  readonly poamPerFinding?: boolean;
  readonly benchmark?: string;
}

/** Writes a report in the formats that the flags name: the scanner's, which clients do not import. */
export interface ReportWriter {
  /** What `--format` takes. */
  readonly formatNames: readonly string[];
  /**
   * Checks what can be checked before there is a report; rejects with `UsageError`. What it resolves with writes one, and resolves
   * with the exit code.
   */
  prepare(
    flags: Pick<ReportFlags, "format" | "output" | "sign" | "poamPerFinding" | "benchmark">,
    io: CommandIo,
  ): Promise<(report: unknown) => Promise<number>>;
}

/** `report SCAN_ID`: the stored report of a scan in any format. */
export async function reportCommand(
  scanId: string | undefined,
  { latest, ...flags }: ReportFlags,
  { io, writer }: { readonly io: CommandIo; readonly writer: ReportWriter },
): Promise<number> {
  const access = requireGatewayAccess(io.env, oneScanProblems(scanId, latest));
  const write = await writer.prepare(flags, io);
  return withGateway("read the report", { access, io }, async (api) => {
    const id = scanId ?? (await requireLatest(api, io));
    return id === null ? exitCodes.usage : write(await api.readReport(id));
  });
}
