import { Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import type { FixFlags } from "./fix_command.ts";
import type { FollowFlags } from "./follow_options.ts";
import { keepHeapSmall, keepHeapSmallest } from "./keep_heap_small.ts";
import type { CatalogFlags } from "./catalog_commands.ts";
import type { DiffFlags } from "./diff_command.ts";
import type { CollectFlags, EvaluateFlags, ScanFlags } from "./scan_command.ts";

/** The scanner's commands. Each loads its own code, so that `--help` is there at once. */
export function addScannerCommands(program: Command, run: RunCommand): void {
  const scan = program
    .command("scan")
    .description("collect, evaluate, publish, report")
    .option("--save-artifacts <file>", "keep the evidence for `evaluate`")
    .option("--quiet", "no progress, only problems")
    .option("--no-stream", "do not register and publish the scan");
  addConnectionOptions(scan);
  addSelectionOptions(scan);
  addRuleOptions(scan);
  addReportOptions(scan);
  scan.action((flags: ScanFlags) =>
    run(async (io) => {
      keepHeapSmall();
      return (await import("./scan_command.ts")).scanCommand(flags, io);
    }),
  );

  const collect = program
    .command("collect")
    .description("fetch the evidence only")
    .option("--save-artifacts <file>", "where to keep it (required)")
    .option("--quiet", "no progress, only problems");
  addConnectionOptions(collect);
  addSelectionOptions(collect);
  addRuleOptions(collect);
  collect.action((flags: CollectFlags) =>
    run(async (io) => {
      keepHeapSmall();
      return (await import("./scan_command.ts")).collectCommand(flags, io);
    }),
  );

  const evaluate = program
    .command("evaluate")
    .description("judge saved evidence, offline")
    .option("--from-artifacts <file>", "a file of `scan` or `collect` (required)");
  addSelectionOptions(evaluate);
  addRuleOptions(evaluate);
  addReportOptions(evaluate);
  evaluate.action((flags: EvaluateFlags) =>
    run(async (io) => (await import("./scan_command.ts")).evaluateCommand(flags, io)),
  );

  const fix = program
    .command("fix")
    .description("write Terraform that makes failing checks pass, and the steps that are left to a person")
    .option("--from-artifacts <file>", "plan from saved evidence, offline")
    .option("--output <dir>", "where main.tf, variables.tf and README.md go (required)")
    .option("--quiet", "no progress, only problems");
  addConnectionOptions(fix);
  addSelectionOptions(fix);
  fix.action((flags: FixFlags) =>
    run(async (io) => {
      keepHeapSmall();
      return (await import("./fix_command.ts")).fixCommand(flags, io);
    }),
  );

  program
    .command("diff")
    .description("what differs between two reports, or two files of artifacts: findings and configuration")
    .argument("<before>", "scan.json, or a file of --save-artifacts")
    .argument("<after>", "the later one of the same kind")
    .option("--format <formats>", "table, json, markdown, html; several separated by commas (default: table)")
    .option("--output <dir>", "write diff.<ext> for each format there")
    .action((before: string, after: string, flags: DiffFlags) =>
      run(async (io) => (await import("./diff_command.ts")).diffCommand({ before, after }, flags, io)),
    );

  addCatalogCommands(program, run);
  addConnectedCommands(program, run);
}

function addCatalogCommands(program: Command, run: RunCommand): void {
  program
    .command("checks")
    .description("list every check: STIG ids, category, severity, scopes, role")
    .option("--checks <file>", "rules of your own beside those of the STIG (JSON)")
    .addOption(textOrJson())
    .action((flags: CatalogFlags) =>
      run(async (io) => (await import("./catalog_commands.ts")).checksCommand(flags, io)),
    );
  program
    .command("explain")
    .description("what a check examines, why, how to fix it, which API fields decide")
    .argument("<check>", "a check's name, V-id or STIG id")
    .option("--checks <file>", "rules of your own beside those of the STIG (JSON)")
    .addOption(textOrJson())
    .action((check: string, flags: CatalogFlags) =>
      run(async (io) => (await import("./catalog_commands.ts")).explainCommand(check, flags, io)),
    );
}

function addConnectedCommands(program: Command, run: RunCommand): void {
  const doctor = program
    .command("doctor")
    .description("test key, token, DPoP, scopes, role and rate limits, and say what to fix where")
    .addOption(textOrJson());
  addConnectionOptions(doctor);
  doctor.action((flags: { readonly format: string }) =>
    run(async (io) => (await import("./doctor_command.ts")).doctorCommand(flags, io)),
  );

  const follow = program
    .command("follow")
    .description("keep the verdicts true: read the System Log, and say which verdict moved, and who did it")
    .option("--state <dir>", "where it keeps what it knows (default: .scanstream/follow)")
    .option("--interval <seconds>", "between two looks at the log (default: 10)")
    .option("--reconcile <hours>", "between two full scans (default: 6)")
    .option("--once", "catch up from the saved state, and end")
    .option("--until-clean", "end with 0 as soon as nothing fails")
    .option(
      "--fail-on <what>",
      "what ends it with 1 when it is new: fail, manual, never, fail:high, … (default: never)",
    )
    .option("--check <names>", "only these checks, separated by commas")
    .option("--exclude <names>", "not these checks")
    .option("--waivers <file>", "findings that are accepted for a time")
    .option("--attestations <file>", "what people attest where the API shows too little")
    .option("--format <format>", "table or ndjson (default: table)")
    .option("--with-addresses", "IP addresses of who made a change, too")
    .option("--no-stream", "do not register and publish the monitor");
  addConnectionOptions(follow);
  follow.action((flags: FollowFlags) =>
    run(async (io) => {
      keepHeapSmallest();
      return (await import("./follow_command.ts")).followCommand(flags, io);
    }),
  );
}

function addConnectionOptions(command: Command): void {
  command
    .option("--org-url <url>", "the organization's address (IDP_ORG_URL)")
    .option("--client-id <id>", "the service application's client id (IDP_CLIENT_ID)")
    .option("--private-key-file <file>", "its private key (IDP_PRIVATE_KEY_FILE, or IDP_PRIVATE_KEY)")
    .option("--concurrency <n>", "requests under way at one time")
    .option("--timeout <seconds>", "bound on one request");
}

function addSelectionOptions(command: Command): void {
  command
    .option("--check <names>", "only these checks, separated by commas")
    .option("--exclude <names>", "not these checks")
    .option("--severity <levels>", "only high, medium or low, separated by commas");
}

function addRuleOptions(command: Command): void {
  command
    .option("--checks <file>", "rules of your own beside those of the STIG (JSON)")
    .option("--parameters <file>", "values of your own in place of the STIG's, such as idle minutes (JSON)");
}

/** Those of `reports/formats.ts`, which is loaded only when a report is written. */
const formatNames =
  "table, json, ndjson, csv, sarif, junit, ocsf, cklb, ckl, hdf, xccdf, oscal, poam, poam-json, html, markdown";

function addReportOptions(command: Command): void {
  command
    .option(
      "--format <formats>",
      `one or several of these, separated by commas (default: table): ${formatNames}, or all`,
    )
    .option("--output <dir>", "write scan.<ext> for each format there")
    .option("--fail-on <what>", "what exits with 1: fail, manual, never, fail:high, manual:medium, … (default: fail)")
    .option("--threshold <file>", "bounds on the counts of rules, as of SAF (YAML or JSON); one not met exits with 1")
    .option("--fail-on-new", "only findings that the baseline does not have count")
    .option("--waivers <file>", "findings that are accepted for a time")
    .option("--attestations <file>", "what people attest where the API shows too little")
    .option("--decisions-from-gateway", "the waivers and attestations that are kept at SCANSTREAM_URL, too")
    .option("--checklist <file>", "a CKLB or CKL that people worked in: cklb and ckl keep their answers")
    .option("--baseline <report.json>", "mark findings new, unchanged or resolved against an earlier report");
}

function textOrJson(): Option {
  return new Option("--format <format>", "text or json").choices(["text", "json"]).default("text");
}
