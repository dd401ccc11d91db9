import type { Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { wordsOption } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import { addConnectedCommands } from "./connected_commands.ts";
import type { DiffFlags } from "./diff_command.ts";
import type { CollectFlags, EvaluateFlags } from "./evidence_commands.ts";
import type { FixFlags } from "./fix_command.ts";
import { keepHeapSmall } from "./keep_heap_small.ts";
import {
  addConfigOptions,
  addConnectionOptions,
  addJudgingOptions,
  addOneOrganizationOptions,
  addReportOptions,
  addRuleOptions,
  addSelectionOptions,
  addVerbosityOptions,
  signOption,
} from "./option_groups.ts";
import type { ConfiguredScanFlags } from "./organizations/configured_scan_command.ts";
import { addProofCommands } from "./proof_commands.ts";
import { addRuleCommands } from "./rule_commands.ts";

/** The scanner's commands. Each loads its own code, so that `--help` is there at once. */
export function addScannerCommands(program: Command, run: RunCommand): void {
  const scan = program
    .command("scan")
    .description("scan an Okta org against the STIG and report the results")
    .option("--save-artifacts <file>", "save the evidence for `evaluate`")
    .option("--no-stream", "do not send the scan to the gateway");
  addConfigOptions(scan);
  addConnectionOptions(scan);
  addJudgingOptions(scan);
  addReportOptions(scan);
  addVerbosityOptions(scan);
  addExamples(
    scan,
    "scanstream scan",
    "scanstream scan -f json,html,cklb -o report --fail-on fail:high",
    "scanstream scan --check signon_global_session_idle_timeout_15min -v",
    "scanstream scan --config scanstream.config.json --org acme,globex --output reports",
  );
  scan.action((flags: ConfiguredScanFlags) =>
    run(async (io) => {
      keepHeapSmall();
      return (await import("./organizations/configured_scan_command.ts")).configuredScanCommand(flags, io);
    }),
  );

  const collect = program
    .command("collect")
    .description("read the evidence of an org and save it for `evaluate`")
    .option("--save-artifacts <file>", "file for the evidence, - for stdout (required)")
    .addOption(signOption());
  addOneOrganizationOptions(collect);
  addConnectionOptions(collect);
  addSelectionOptions(collect);
  addRuleOptions(collect);
  addVerbosityOptions(collect);
  addExamples(
    collect,
    "scanstream collect --save-artifacts evidence.json",
    "scanstream collect --quiet --save-artifacts -",
  );
  collect.action((flags: CollectFlags) =>
    run(async (io) => {
      keepHeapSmall();
      const of = await (await import("./organizations/one_organization.ts")).forOrganization(flags, io);
      return (await import("./evidence_commands.ts")).collectCommand(of.flags, of.io);
    }),
  );

  const evaluate = program
    .command("evaluate")
    .description("evaluate saved evidence offline")
    .option("--from-artifacts <file>", "evidence that `scan` or `collect` saved, - for stdin (required)");
  addJudgingOptions(evaluate);
  addReportOptions(evaluate);
  addVerbosityOptions(evaluate);
  addExamples(
    evaluate,
    "scanstream evaluate --from-artifacts evidence.json",
    "scanstream evaluate --from-artifacts evidence.json -f oscal -o report --waivers decisions.json",
  );
  evaluate.action((flags: EvaluateFlags) =>
    run(async (io) => (await import("./evidence_commands.ts")).evaluateCommand(flags, io)),
  );

  const fix = program
    .command("fix")
    .description("write Terraform that fixes failing checks, and a list of the manual steps")
    .option("--from-artifacts <file>", "plan from saved evidence, offline")
    .option("--output <dir>", "directory for main.tf, variables.tf and plan.md (required)");
  addOneOrganizationOptions(fix);
  addConnectionOptions(fix);
  addJudgingOptions(fix);
  addVerbosityOptions(fix);
  addExamples(
    fix,
    "scanstream fix -o fixes",
    "scanstream fix --from-artifacts evidence.json -o fixes --severity high",
    "scanstream fix -o fixes --waivers decisions.json --parameters limits.json",
  );
  fix.action((flags: FixFlags) =>
    run(async (io) => {
      keepHeapSmall();
      const of = await (await import("./organizations/one_organization.ts")).forOrganization(flags, io);
      return (await import("./fix_command.ts")).fixCommand(of.flags, of.io);
    }),
  );

  const diff = program
    .command("diff")
    .description("compare two reports or two evidence files: findings and configuration")
    .argument("<before>", "an earlier scan.json or evidence file")
    .argument("<after>", "a later file of the same kind")
    .addOption(
      wordsOption("--format <formats>", "text, json, or both separated by a comma (default: text)", "list", [
        "text",
        "json",
      ]),
    )
    .option("--output <dir>", "write diff.<ext> for each format there")
    .action((before: string, after: string, flags: DiffFlags) =>
      run(async (io) => (await import("./diff_command.ts")).diffCommand({ before, after }, flags, io)),
    );
  addExamples(
    diff,
    "scanstream diff before/scan.json after/scan.json",
    "scanstream diff before.json after.json -f text,json -o changes",
  );

  addRuleCommands(program, run);
  addProofCommands(program, run);
  addConnectedCommands(program, run);
}
