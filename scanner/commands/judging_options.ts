import type { CommandIo } from "../../command_line/command_io.ts";
import { selectChecks } from "../catalog/select_checks.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import { readApprovedIssuers } from "../config.ts";
import { readDecisions, type Decisions } from "../decisions/decisions.ts";
import { withGatewayDecisions } from "../decisions/gateway_decisions.ts";
import { readParameters } from "../decisions/parameters.ts";
import type { Revision } from "../catalog/catalog.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { rulesOf, toSelection, warnOn, type SelectionFlags } from "./scan_options.ts";

/** The options of every command that evaluates: which checks, by which limits, and which findings are accepted. */
export interface JudgingFlags extends SelectionFlags {
  readonly waivers?: string;
  readonly attestations?: string;
  readonly decisionsFromGateway?: boolean;
  readonly quiet?: boolean;
}

export interface Judging {
  readonly revision: Revision;
  readonly checks: readonly CatalogCheck[];
  readonly parameters: ParameterValues;
  /** The decisions of the files, and those of the gateway where they are asked for. */
  decisionsFor(orgUrl: string): Promise<Decisions>;
}

/** Throws `UsageError` for an option or a file that cannot be used. */
export async function readJudging(flags: JudgingFlags, io: CommandIo): Promise<Judging> {
  const revision = await readRevision(flags.benchmark);
  const known = revision.checks;
  const checks = selectChecks(toSelection(flags), { checks: known, warn: warnOn(io) });
  const parameters = await readParameters(flags.parameters, readApprovedIssuers(io.env), known);
  const files = await readDecisions(
    {
      waiversFile: flags.waivers ?? null,
      attestationsFile: flags.attestations ?? null,
      baselineFile: null,
    },
    { rules: rulesOf(known), warn: warnOn(io) },
  );
  return {
    revision,
    checks,
    parameters,
    decisionsFor(orgUrl) {
      const wanted = { isAsked: flags.decisionsFromGateway === true, orgUrl, rules: rulesOf(known) };
      return withGatewayDecisions(files, wanted, io);
    },
  };
}
