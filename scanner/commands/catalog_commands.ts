import { findCheck } from "../catalog/select_checks.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { organizationNames } from "./organizations/read_config_file.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { warnOn } from "./scan_options.ts";
import { describeCheck, explainCheck, listChecks } from "./describe_checks.ts";
import { explainOrg } from "../explain/explain_org.ts";
import { explanationMarkdown, explanationText } from "../explain/explain_text.ts";
import { markdownText } from "../reports/markdown_text.ts";
import { readParameters } from "../decisions/parameters.ts";
import { revisionName, type CatalogCheck } from "../catalog/catalog.ts";
import { readApprovedIssuers } from "../config.ts";
import { forOrganization, type OrganizationFlags } from "./organizations/one_organization.ts";
import { findVerdicts } from "./org_evidence.ts";
import { silentProgress } from "./progress.ts";
import { exitCodes } from "../../command_line/exit_code.ts";

export interface CatalogFlags {
  /** The file of another revision of the STIG. */
  readonly benchmark?: string;
  readonly format: string;
}

/** `checks`: every check there is. */
export async function checksCommand(flags: CatalogFlags, io: CommandIo): Promise<number> {
  const { checks } = await readRevision(flags.benchmark);
  io.stdout(flags.format === "json" ? `${JSON.stringify(checks.map(describeCheck), null, 2)}\n` : listChecks(checks));
  return exitCodes.ok;
}

export interface ExplainFlags extends CatalogFlags, OrganizationFlags {
  readonly fromArtifacts?: string;
  readonly parameters?: string;
}

/** `explain CHECK`: the rule, and with evidence what decides in that org. */
export async function explainCommand(name: string, flags: ExplainFlags, io: CommandIo): Promise<number> {
  const revision = await readRevision(flags.benchmark);
  const { checks } = revision;
  const check = findCheck(name, { checks, warn: warnOn(io) });
  const { rule, explanation } = check;
  if (flags.fromArtifacts !== undefined || flags.org !== undefined) {
    const found = await evidenceOf(check, flags, io);
    if (typeof found === "number") return found;
    const { results, document } = found;
    const explained = results.map((result) => explainOrg(check, result, document));
    const head = `${rule.vuln_id} ${rule.title} (${revisionName(revision.benchmark)})`;
    if (flags.format === "json")
      io.stdout(`${JSON.stringify({ ...describeCheck(check), org: explained[0] }, null, 2)}\n`);
    else if (flags.format === "markdown")
      io.stdout(`# ${markdownText(head)}\n\n${explained.map(explanationMarkdown).join("\n")}`);
    else
      io.stdout(
        `${explainCheck(check)}\n${explained.map((one) => explanationText(one, Math.max(io.terminal.columns || 80, 60))).join("\n")}`,
      );
    return exitCodes.ok;
  }
  const names = await organizationNames();
  if (names.length > 0) {
    io.terminal.write(
      `To see what decides in your org, add --org ${names.length === 1 ? "" : "with one of "}${names.join(", ")}\n`,
    );
  }
  const described = {
    ...describeCheck(check),
    ...explanation,
    check_text: rule.check_text,
    fix_text: rule.fix_text,
    ...writtenFor(check),
  };
  io.stdout(flags.format === "json" ? `${JSON.stringify(described, null, 2)}\n` : explainCheck(check));
  return exitCodes.ok;
}

/** The texts that a check was written for, where the revision words its rule otherwise. */
function writtenFor({ unjudged }: CatalogCheck): object {
  if (unjudged === undefined) return {};
  const { reason, writtenFor: rule } = unjudged;
  return { reason, written_for: rule === null ? null : { check_text: rule.check_text, fix_text: rule.fix_text } };
}

/** Evidence for one check, in a file or in an org; the exit code where the org lets nobody in. */
async function evidenceOf(check: CatalogCheck, flags: ExplainFlags, io: CommandIo) {
  const of = await forOrganization(flags, io);
  const parameters = await readParameters(of.flags.parameters, readApprovedIssuers(of.io.env));
  const wanted = { checks: [check], isNamed: true, parameters };
  return findVerdicts(of.flags, wanted, { io: of.io, progress: silentProgress });
}
