import { Argument, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { offering } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import type { CatalogFlags, ExplainFlags } from "./catalog_commands.ts";
import { addOneOrganizationOptions, benchmarkOption, checkNames, textOrJson } from "./option_groups.ts";

/** The commands about the rules themselves. */
export function addRuleCommands(program: Command, run: RunCommand): void {
  const checks = program
    .command("checks")
    .description("list every check: STIG ids, category, role, scopes, title")
    .addOption(benchmarkOption())
    .addOption(textOrJson())
    .action((flags: CatalogFlags) =>
      run(async (io) => (await import("./catalog_commands.ts")).checksCommand(flags, io)),
    );
  addExamples(checks, "scanstream checks", "scanstream checks -f json");
  const explain = program
    .command("explain")
    .description("explain a check: what it examines, why, how to fix it, and what decides in your org")
    .addArgument(offering(new Argument("<check>", "a check's name, V-, SV- or OKTA-APP-id"), "one", checkNames))
    .option("--from-artifacts <file>", "saved evidence of an org: also show what decides there")
    .option("--parameters <file>", "the organization's own limits (JSON)")
    .addOption(benchmarkOption())
    .addOption(textOrJson(["markdown"]));
  addOneOrganizationOptions(explain);
  explain.action((check: string, flags: ExplainFlags) =>
    run(async (io) => (await import("./catalog_commands.ts")).explainCommand(check, flags, io)),
  );
  addExamples(
    explain,
    "scanstream explain signon_global_session_idle_timeout_15min",
    "scanstream explain V-273186 --from-artifacts evidence.json",
    "scanstream explain V-273186 --org acme",
    "scanstream explain V-273186 --from-artifacts evidence.json --format markdown",
  );
}
