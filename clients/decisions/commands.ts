import { Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { formats } from "../options.ts";
import type { AttestFlags, DecisionsListFlags, WaiveFlags } from "./decision_commands.ts";

/** What people decided about findings, kept at the gateway for `scan --decisions-from-gateway`. */
export function addDecisionCommands(program: Command, run: RunCommand): void {
  const decisions = program
    .command("decisions")
    .description("waivers and attestations at the gateway, which scan --decisions-from-gateway reads");
  decisions
    .command("list")
    .description("list the decisions that hold, newest first")
    .option("--all", "also those that were withdrawn, contradicted or expired")
    .addOption(new Option("--kind <kind>", "only these").choices(["waiver", "attestation"]))
    .option("--check <name>", "only those of this check")
    .addOption(formats("table", "json", "ndjson"))
    .addHelpText("after", "\nExample:\n  $ scanstream decisions list --kind waiver")
    .action((flags: DecisionsListFlags) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsListCommand(flags, io)),
    );
  addDecideOptions(
    decisions.command("waive").description("accept findings for a time: they do not fail a run any more"),
  )
    .option("--resource <text>", "an exact id or name, or a name with * and ?; default: every finding of the check")
    .addHelpText(
      "after",
      '\nExample:\n  $ scanstream decisions waive apitoken_not_super_admin --resource 00T1 --reason "ends in January" --expires 2027-01-31',
    )
    .action((check: string, flags: WaiveFlags) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsWaiveCommand(check, flags, io)),
    );
  addDecideOptions(decisions.command("attest").description("answer for a check where the API shows too little"))
    .addOption(
      new Option("--status <status>", "what you found")
        .choices(["PASS", "FAIL", "NOT_APPLICABLE"])
        .makeOptionMandatory(),
    )
    .addHelpText(
      "after",
      '\nExample:\n  $ scanstream decisions attest systemlog_streaming_enabled --status PASS --reason "seen in the SIEM"',
    )
    .action((check: string, flags: AttestFlags) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsAttestCommand(check, flags, io)),
    );
  decisions
    .command("withdraw")
    .description("end a decision; it stays in the list")
    .argument("<id>", "the decision's id, as `decisions list` shows it")
    .addHelpText("after", "\nExample:\n  $ scanstream decisions withdraw 9b2f5f1c-3c51-4a8e-9a55-1f0d3a7c2e64")
    .action((id: string) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsWithdrawCommand(id, io)),
    );
}

function addDecideOptions(command: Command): Command {
  return command
    .argument("<check>", "the check's name")
    .requiredOption("--reason <text>", "why")
    .option("--expires <date>", "a day (until its end, UTC) or a time with its offset; default: until it is withdrawn")
    .option("--org-url <url>", "only of this organization; default: of every one of the tenant")
    .addOption(formats("text", "json"));
}
