import { Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { addExamples } from "../../command_line/examples.ts";
import { formats } from "../options.ts";
import type { AttestFlags, DecisionsListFlags, WaiveFlags } from "./decision_commands.ts";

/** What people decided about findings, kept at the gateway for `scan --decisions-from-gateway`. */
export function addDecisionCommands(program: Command, run: RunCommand): void {
  const decisions = program
    .command("decisions")
    .description("manage waivers and attestations for scan --decisions-from-gateway");
  addExamples(decisions, "scanstream decisions list");
  const list = decisions
    .command("list")
    .description("list active decisions, newest first")
    .option("--all", "include withdrawn, contradicted and expired decisions")
    .addOption(new Option("--kind <kind>", "only decisions of this kind").choices(["waiver", "attestation"]))
    .option("--check <name>", "only decisions for this check")
    .addOption(formats("table", "json", "ndjson"))
    .action((flags: DecisionsListFlags) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsListCommand(flags, io)),
    );
  addExamples(list, "scanstream decisions list --all --kind waiver");
  const waive = decisions.command("waive").description("accept findings, so that they no longer fail a run");
  addDecideOptions(waive)
    .option("--resource <text>", "an exact id or name, or a pattern with * and ? (default: every finding of the check)")
    .action((check: string, flags: WaiveFlags) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsWaiveCommand(check, flags, io)),
    );
  addExamples(
    waive,
    'scanstream decisions waive apitoken_not_super_admin --resource "ci-*" --reason "ends in January" --expires 2027-01-31',
  );
  const attest = decisions
    .command("attest")
    .description("record a manual answer for a check that the API cannot decide");
  addDecideOptions(attest)
    .addOption(
      new Option("--status <status>", "the result of your review")
        .choices(["PASS", "FAIL", "NOT_APPLICABLE"])
        .makeOptionMandatory(),
    )
    .action((check: string, flags: AttestFlags) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsAttestCommand(check, flags, io)),
    );
  addExamples(
    attest,
    'scanstream decisions attest systemlog_streaming_enabled --status PASS --reason "seen in the SIEM"',
  );
  const withdraw = decisions
    .command("withdraw")
    .description("withdraw a decision; `decisions list --all` still shows it")
    .argument("<id>", "the decision's id, as `decisions list` shows it")
    .action((id: string) =>
      run(async (io) => (await import("./decision_commands.ts")).decisionsWithdrawCommand(id, io)),
    );
  addExamples(withdraw, "scanstream decisions withdraw 9b2f5f1c-3c51-4a8e-9a55-1f0d3a7c2e64");
}

function addDecideOptions(command: Command): Command {
  return command
    .argument("<check>", "the check's name, V-, SV- or OKTA-APP-id")
    .requiredOption("--reason <text>", "why")
    .option("--expires <date>", "a day (until its end, UTC) or a time with an offset (default: never)")
    .option("--org-url <url>", "only for this organization (default: all organizations of the tenant)")
    .addOption(formats("text", "json"));
}
