import { Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { offering, wordsOption } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import type { HistoryFlags } from "./history_command.ts";
import { benchmarkOption, checkNames, signOption } from "./option_groups.ts";
import type { VerifyFlags } from "./signature_commands.ts";

/** The commands for an assessor: what was true when, and that nobody edited it. */
export function addProofCommands(program: Command, run: RunCommand): void {
  addHistoryCommand(program, run);
  addVerifyCommand(program, run);
}

function addHistoryCommand(program: Command, run: RunCommand): void {
  const history = program
    .command("history")
    .description("show when each rule passed, failed or was unknown: from a gateway, or from saved reports")
    .argument("[org]", "id, address or host of one organization (default: all)")
    .option(
      "--from-reports <dir>",
      "use the reports (scan.json) and change files of follow in this folder, without a gateway",
    )
    .addOption(offering(new Option("--rule <names>", "only these rules, separated by commas"), "list", checkNames))
    .option("--days <n>", "UTC days that end today, 1 to 400 (default: 30)")
    .addOption(new Option("--by <view>", "group the rules by control (SP 800-53)").choices(["control"]))
    .addOption(wordsOption("--format <formats>", "table, json, csv (default: table)", "list", ["table", "json", "csv"]))
    .option("--output <dir>", "write history.<ext> for each format there")
    .addOption(signOption());
  addExamples(
    history,
    "scanstream history --days 90",
    "scanstream history acme.okta.com --rule signon_global_session_idle_timeout_15min --format json",
    "scanstream history --from-reports reports --by control",
    "scanstream history --from-reports reports -f json,csv -o history --sign scanner.key",
  );
  history.action((org: string | undefined, flags: HistoryFlags) =>
    run(async (io) => (await import("./history_command.ts")).historyCommand(org, flags, io)),
  );
}

function addVerifyCommand(program: Command, run: RunCommand): void {
  const verify = program
    .command("verify")
    .description("check who signed reports or evidence, and that nothing changed since")
    .argument("<path>", "a signed file, or a folder")
    .option("--key <file>", "the signer's public key (required)")
    .option("--org-url <url>", "refuse files about any other org")
    .option("--since <time>", "refuse a scan that ended before this time")
    .addOption(benchmarkOption());
  addExamples(
    verify,
    "scanstream verify report --key scanner.key.pub",
    "scanstream verify report --key scanner.key.pub --org-url https://acme.okta.com --since 2026-01-31",
  );
  verify.action((path: string, flags: VerifyFlags) =>
    run(async (io) => (await import("./signature_commands.ts")).verifyCommand(path, flags, io)),
  );
}
