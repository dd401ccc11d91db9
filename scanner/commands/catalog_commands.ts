import { readChecks } from "../decisions/own_rules/company_rules.ts";
import { findCheck } from "../catalog/select_checks.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { warnOn } from "./scan_options.ts";
import { describeCheck, explainCheck, listChecks } from "./describe_checks.ts";
import { explainOrg } from "../explain/explain_org.ts";
import { explanationMarkdown, explanationText } from "../explain/explain_text.ts";
import { markdownText } from "../reports/markdown_text.ts";
import { readParameters } from "../decisions/own_rules/parameters.ts";
import { readApprovedIssuers } from "../config.ts";
import { evaluateSaved } from "./saved_evidence.ts";
import { exitCodes } from "../../command_line/exit_code.ts";

export interface CatalogFlags {
  readonly format: string;
  readonly checks?: string;
}

/** `checks`: every check there is. */
export async function checksCommand(flags: CatalogFlags, io: CommandIo): Promise<number> {
  const checks = await readChecks(flags.checks);
  io.stdout(flags.format === "json" ? `${JSON.stringify(checks.map(describeCheck), null, 2)}\n` : listChecks(checks));
  return exitCodes.ok;
}

export interface ExplainFlags extends CatalogFlags {
  readonly fromArtifacts?: string;
  readonly parameters?: string;
}

/** `explain CHECK`: the rule, and with evidence what decides in that org. */
export async function explainCommand(name: string, flags: ExplainFlags, io: CommandIo): Promise<number> {
  const check = findCheck(name, { checks: await readChecks(flags.checks), warn: warnOn(io) });
  const { rule, explanation } = check;
  if (flags.fromArtifacts !== undefined) {
    const parameters = await readParameters(flags.parameters, readApprovedIssuers(io.env));
    const selection = { selected: [check], isNamed: true, parameters };
    const { results, document } = await evaluateSaved(flags.fromArtifacts, selection, io);
    const explained = results.map((result) => explainOrg(check, result, document));
    const head = `${rule.vuln_id} ${rule.title}`;
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
  const described = { ...describeCheck(check), ...explanation, check_text: rule.check_text, fix_text: rule.fix_text };
  io.stdout(flags.format === "json" ? `${JSON.stringify(described, null, 2)}\n` : explainCheck(check));
  return exitCodes.ok;
}
