import type { CommandIo } from "../../command_line/command_io.ts";
import { selectChecks } from "../catalog/select_checks.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import { readApprovedIssuers } from "../config.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { createDecisionFiles, followDecisions } from "../decisions/followed_decisions.ts";
import { fetchDecisions, withGatewayDecisions } from "../decisions/gateway_decisions.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import type { DecisionsPort } from "../follow/follow_plan.ts";
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
  /** The same, read again when they change. */
  followDecisions(orgUrl: string, say: (text: string) => void): Promise<DecisionsPort>;
}

/** Throws `UsageError` for an option or a file that cannot be used. */
export async function readJudging(flags: JudgingFlags, io: CommandIo): Promise<Judging> {
  const revision = await readRevision(flags.benchmark);
  const known = revision.checks;
  const checks = selectChecks(toSelection(flags), { checks: known, warn: warnOn(io) });
  const parameters = await readParameters(flags.parameters, readApprovedIssuers(io.env), known);
  const rules = rulesOf(known);
  const files = await createDecisionFiles({
    files: { waiversFile: flags.waivers ?? null, attestationsFile: flags.attestations ?? null, baselineFile: null },
    rules,
    warn: warnOn(io),
  });
  const isAsked = flags.decisionsFromGateway === true;
  return {
    revision,
    checks,
    parameters,
    decisionsFor: (orgUrl) => withGatewayDecisions(files.decisions, { isAsked, orgUrl, rules }, io),
    followDecisions(orgUrl, say) {
      const access = isAsked ? requireGatewayAccess(io.env, []) : null;
      const fetch = access === null ? null : () => fetchDecisions({ access, orgUrl, signal: io.interrupted });
      return followDecisions({ files, fetch, rules, say, nowMs: io.now().getTime() });
    },
  };
}
