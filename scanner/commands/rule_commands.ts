import { Argument, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { offering } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import type { CatalogFlags, ExplainFlags } from "./catalog_commands.ts";
import { addOneOrganizationOptions, benchmarkOption, checkNames, textOrJson } from "./option_groups.ts";
import type { StigFlags } from "./stig_command.ts";

/** The commands about the rules themselves. */
export function addRuleCommands(program: Command, run: RunCommand): void {
  addCatalogCommands(program, run);
  addStigCommands(program, run);
}

function addCatalogCommands(program: Command, run: RunCommand): void {
  const checks = program
    .command("checks")
    .description("list every check: STIG ids, category, role, scopes, title")
    .option("--checks <file>", "company rules to evaluate along with the STIG (JSON)")
    .addOption(benchmarkOption())
    .addOption(textOrJson())
    .action((flags: CatalogFlags) =>
      run(async (io) => (await import("./catalog_commands.ts")).checksCommand(flags, io)),
    );
  addExamples(checks, "scanstream checks", "scanstream checks --checks rules.json -f json");
  const explain = program
    .command("explain")
    .description("explain a check: what it examines, why, how to fix it, and what decides in your org")
    .addArgument(offering(new Argument("<check>", "a check's name, V-, SV- or OKTA-APP-id"), "one", checkNames))
    .option("--from-artifacts <file>", "saved evidence of an org: also show what decides there")
    .option("--checks <file>", "company rules to evaluate along with the STIG (JSON)")
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

function addStigCommands(program: Command, run: RunCommand): void {
  const stig = program.command("stig").description("manage the revisions of DISA's STIG");
  addExamples(stig, "scanstream stig list", "scanstream stig show");
  const list = stig
    .command("list")
    .description("list the revisions on this machine")
    .addOption(textOrJson())
    .action((flags: StigFlags) => run(async (io) => (await import("./stig_command.ts")).listStigs(flags, io)));
  addExamples(list, "scanstream stig list", "scanstream stig list --format json");
  const show = stig
    .command("show")
    .description("list the rules of a revision, and which of them are evaluated")
    .argument("[revision]", "name or file (default: the built-in one)")
    .addOption(textOrJson())
    .action((name: string | undefined, flags: StigFlags) =>
      run(async (io) => (await import("./stig_command.ts")).showStig(name, flags, io)),
    );
  addExamples(show, "scanstream stig show", "scanstream stig show okta-idaas-stig-v1r2 --format json");
  const diff = stig
    .command("diff")
    .description("show what DISA changed between two revisions")
    .argument("<before>", "name or file")
    .argument("<after>", "name or file")
    .addOption(textOrJson())
    .action((before: string, after: string, flags: StigFlags) =>
      run(async (io) => (await import("./stig_command.ts")).diffStigs({ before, after }, flags, io)),
    );
  addExamples(diff, "scanstream stig diff okta-idaas-stig-v1r2 okta-idaas-stig-v1r2");
  const add = stig
    .command("add")
    .description("add a revision for --benchmark: DISA's zip, or the XCCDF in it")
    .argument("<file>", "U_Okta_IDaaS_V1R2_STIG.zip, or its xccdf.xml")
    .action((file: string) => run(async (io) => (await import("./stig_command.ts")).addStig(file, io)));
  addExamples(add, "scanstream stig add U_Okta_IDaaS_V1R2_STIG.zip");
}
