import { readChecks } from "../decisions/own_rules/company_rules.ts";
import { findCheck } from "../catalog/select_checks.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { warnOn } from "./scan_options.ts";
import { describeCheck, explainCheck, listChecks } from "./describe_checks.ts";
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

/** `explain CHECK`. */
export async function explainCommand(name: string, flags: CatalogFlags, io: CommandIo): Promise<number> {
  const check = findCheck(name, { checks: await readChecks(flags.checks), warn: warnOn(io) });
  const { rule, explanation } = check;
  const described = { ...describeCheck(check), ...explanation, check_text: rule.check_text, fix_text: rule.fix_text };
  io.stdout(flags.format === "json" ? `${JSON.stringify(described, null, 2)}\n` : explainCheck(check));
  return exitCodes.ok;
}
