import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import { readApprovedIssuers, readScannerConfig, type ScannerFlags } from "../config.ts";
import { connect } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { IdpError } from "../okta/idp_error.ts";
import { runScan, type FinishedScan, type ScanPlan } from "../run_scan.ts";
import { writeIdpError } from "./finish_scan.ts";
import type { Progress } from "./progress.ts";
import { evaluateSaved } from "./saved_evidence.ts";
import { createTrace } from "./trace_lines.ts";

export interface EvidenceFlags extends ScannerFlags {
  readonly fromArtifacts?: string;
  readonly verbose?: boolean;
}

interface Wanted {
  readonly checks: readonly CatalogCheck[];
  readonly parameters: ParameterValues;
  /** They were named one by one: each has a result, also where its evidence was not collected. */
  readonly isNamed: boolean;
}

/** The verdicts from a file or from the org; the exit code where the org lets nobody in, or the scan was interrupted. */
export async function findVerdicts(
  flags: EvidenceFlags,
  { checks, parameters, isNamed }: Wanted,
  { io, progress }: { readonly io: CommandIo; readonly progress: Progress },
): Promise<Pick<FinishedScan, "results" | "document"> | number> {
  if (flags.fromArtifacts !== undefined) {
    const trace = createTrace(flags, (line) => io.terminal.write(`${line}\n`));
    return evaluateSaved(flags.fromArtifacts, { selected: checks, isNamed, parameters, trace }, io);
  }
  const config = readScannerConfig(flags, io.env);
  const plan = { checks, approvedIssuers: readApprovedIssuers(io.env), parameters };
  progress.started(checks.map((check) => check.name));
  try {
    const scan = await scanOrg(config, plan, { flags, io, progress });
    return typeof scan !== "number" && scan.status === "cancelled" ? exitCodes.interrupted : scan;
  } finally {
    progress.ended();
  }
}

/** One scan of the org; the exit code, after a message, where it lets nobody in. */
export async function scanOrg(
  config: ConnectionSettings,
  plan: Pick<ScanPlan, "checks" | "approvedIssuers" | "parameters">,
  { flags, io, progress }: { readonly flags: EvidenceFlags; readonly io: CommandIo; readonly progress: Progress },
): Promise<FinishedScan | number> {
  const { orgUrl, clientId } = config;
  try {
    return await runScan(
      { ...plan, orgUrl, clientId, signal: io.interrupted },
      {
        connect: (options) => connect(config, options),
        onResult: (result, counts) => progress.checkEvaluated(result, counts),
        now: io.now,
        trace: createTrace(flags, (line) => progress.message(line)),
      },
    );
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    writeIdpError(error, io);
    return exitCodes.unread;
  }
}
