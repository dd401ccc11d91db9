import { Argument, Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { offering, type OfferedValue } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import type { FixFlags } from "./fix_command.ts";
import type { FollowFlags } from "./follow_options.ts";
import { keepHeapSmall, keepHeapSmallest } from "./keep_heap_small.ts";
import type { CatalogFlags } from "./catalog_commands.ts";
import type { DiffFlags } from "./diff_command.ts";
import type { ConfiguredScanFlags } from "./organizations/configured_scan_command.ts";
import type { DoctorFlags } from "./doctor_command.ts";
import type { CollectFlags, EvaluateFlags } from "./evidence_commands.ts";

/** The scanner's commands. Each loads its own code, so that `--help` is there at once. */
export function addScannerCommands(program: Command, run: RunCommand): void {
  const scan = program
    .command("scan")
    .description("collect, evaluate, publish, report")
    .option("--save-artifacts <file>", "keep the evidence for `evaluate`")
    .option("--no-stream", "do not register and publish the scan");
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
    .description("fetch the evidence only")
    .option("--save-artifacts <file>", "where to keep it (required)");
  addConnectionOptions(collect);
  addSelectionOptions(collect);
  addRuleOptions(collect);
  addVerbosityOptions(collect);
  addExamples(collect, "scanstream collect --save-artifacts evidence.json");
  collect.action((flags: CollectFlags) =>
    run(async (io) => {
      keepHeapSmall();
      return (await import("./evidence_commands.ts")).collectCommand(flags, io);
    }),
  );

  const evaluate = program
    .command("evaluate")
    .description("judge saved evidence, offline")
    .option("--from-artifacts <file>", "a file of `scan` or `collect` (required)");
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
    .description("write Terraform that makes failing checks pass, and the steps that are left to a person")
    .option("--from-artifacts <file>", "plan from saved evidence, offline")
    .option("--output <dir>", "where main.tf, variables.tf and plan.md go (required)");
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
      return (await import("./fix_command.ts")).fixCommand(flags, io);
    }),
  );

  const diff = program
    .command("diff")
    .description("what differs between two reports, or two files of artifacts: findings and configuration")
    .argument("<before>", "scan.json, or a file of --save-artifacts")
    .argument("<after>", "the later one of the same kind")
    .addOption(
      offering(
        new Option("--format <formats>", "table, json, markdown, html; several separated by commas (default: table)"),
        "list",
        () => Promise.resolve(["table", "json", "markdown", "html"]),
      ),
    )
    .option("--output <dir>", "write diff.<ext> for each format there")
    .action((before: string, after: string, flags: DiffFlags) =>
      run(async (io) => (await import("./diff_command.ts")).diffCommand({ before, after }, flags, io)),
    );
  addExamples(
    diff,
    "scanstream diff before/scan.json after/scan.json",
    "scanstream diff before.json after.json -f markdown,json -o changes",
  );

  addCatalogCommands(program, run);
  addConnectedCommands(program, run);
}

function addCatalogCommands(program: Command, run: RunCommand): void {
  const checks = program
    .command("checks")
    .description("list every check: STIG ids, category, severity, scopes, role")
    .option("--checks <file>", "rules of your own beside those of the STIG (JSON)")
    .addOption(textOrJson())
    .action((flags: CatalogFlags) =>
      run(async (io) => (await import("./catalog_commands.ts")).checksCommand(flags, io)),
    );
  addExamples(checks, "scanstream checks", "scanstream checks --checks rules.json -f json");
  const explain = program
    .command("explain")
    .description("what a check examines, why, how to fix it, which API fields decide")
    .addArgument(offering(new Argument("<check>", "a check's name, V-, SV- or OKTA-APP-id"), "one", checkNames))
    .option("--checks <file>", "rules of your own beside those of the STIG (JSON)")
    .addOption(textOrJson())
    .action((check: string, flags: CatalogFlags) =>
      run(async (io) => (await import("./catalog_commands.ts")).explainCommand(check, flags, io)),
    );
  addExamples(explain, "scanstream explain signon_global_session_idle_timeout_15min", "scanstream explain V-273186");
}

function addConnectedCommands(program: Command, run: RunCommand): void {
  const doctor = program
    .command("doctor")
    .description("test key, token, DPoP, scopes, role and rate limits, and say what to fix where")
    .addOption(textOrJson());
  addConnectionOptions(doctor);
  doctor.addOption(verboseOption());
  addExamples(doctor, "scanstream doctor", "scanstream doctor -v --org-url https://acme.okta.com");
  doctor.action((flags: DoctorFlags) =>
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
    .addOption(failOnOption("what ends it with 1 when it is new: fail, manual, never, fail:high, … (default: never)"))
    .addOption(
      offering(new Option("--format <format>", "table or ndjson (default: table)"), "one", () =>
        Promise.resolve(["table", "ndjson"]),
      ),
    )
    .option("--with-addresses", "IP addresses of who made a change, too")
    .option("--no-stream", "do not register and publish the monitor");
  addConnectionOptions(follow);
  addJudgingOptions(follow);
  addVerbosityOptions(follow);
  addExamples(follow, "scanstream follow", "scanstream follow -i 30 -f ndjson --fail-on fail:high");
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
    .addOption(checkNamesOption("--check <names>", checkHelp))
    .addOption(excludeOption("--exclude <names>"))
    .addOption(excludeOption("--exclude-check <names>").hideHelp())
    .addOption(
      offering(
        new Option("--severity <levels>", "only high, medium or low (CAT I, II, III), separated by commas"),
        "list",
        () => Promise.resolve(["high", "medium", "low"]),
      ),
    );
}

/** The options of every command that evaluates: which checks, by which limits, and which findings are accepted. */
function addJudgingOptions(command: Command): void {
  addSelectionOptions(command);
  addRuleOptions(command);
  command
    .option("--waivers <file>", "findings that are accepted for a time")
    .option("--attestations <file>", "what people attest where the API shows too little")
    .option("--decisions-from-gateway", "the waivers and attestations that are kept at SCANSTREAM_URL, too");
}

function addVerbosityOptions(command: Command): void {
  command.option("--quiet", "no progress, only problems").addOption(verboseOption().conflicts("quiet"));
}

function verboseOption(): Option {
  return new Option("--verbose", "on stderr each request, wait, collector and check, and how long it took");
}

function addConfigOptions(command: Command): void {
  command
    .option("--config <file>", "options and organizations (default: scanstream.config.json, if it is there)")
    .option("--no-config", "leave scanstream.config.json alone")
    .addOption(
      offering(
        new Option("--org <names>", "only these organizations of the file, separated by commas"),
        "list",
        async () => (await import("./organizations/read_config_file.ts")).organizationNames(),
      ),
    )
    .option("--parallel <n>", "how many organizations at one time (default: 4)");
}

const checkHelp = "only these checks, by name, V-, SV- or OKTA-APP-id, separated by commas";

/** `--exclude` and `--exclude-check` are one option; what both name is skipped. */
function excludeOption(flags: string): Option {
  const option = checkNamesOption(flags, "checks to skip (also --exclude-check)");
  option.attributeName = () => "exclude";
  return option.argParser((names: string, before: string | undefined) =>
    before === undefined ? names : `${before},${names}`,
  );
}

function checkNamesOption(flags: string, description: string): Option {
  return offering(new Option(flags, description), "list", checkNames);
}

async function checkNames(): Promise<readonly OfferedValue[]> {
  const { catalog } = await import("../catalog/catalog.ts");
  return catalog.map(({ name, rule }) => ({ value: name, description: `${rule.vuln_id} ${rule.title}` }));
}

function failOnOption(description: string): Option {
  return offering(new Option("--fail-on <what>", description), "one", () =>
    Promise.resolve([
      "never",
      ...["fail", "manual"].flatMap((word) => [word, ...["high", "medium", "low"].map((level) => `${word}:${level}`)]),
    ]),
  );
}

function addRuleOptions(command: Command): void {
  command
    .option("--checks <file>", "rules of your own beside those of the STIG (JSON)")
    .option("--parameters <file>", "values of your own in place of the STIG's, such as idle minutes (JSON)");
}

/** Those of `reports/formats.ts`, which is loaded only when a report is written or a shell completes one. */
const formatNames =
  "table, json, ndjson, csv, sarif, junit, ocsf, cklb, ckl, hdf, xccdf, oscal, poam, poam-json, html, markdown";

function addReportOptions(command: Command): void {
  command
    .addOption(
      offering(
        new Option(
          "--format <formats>",
          `one or several of these, separated by commas (default: table): ${formatNames}, or all`,
        ),
        "list",
        async () => [...(await import("../reports/formats.ts")).reportFormats.map(({ name }) => name), "all"],
      ),
    )
    .option("--output <dir>", "write scan.<ext> for each format there")
    .addOption(
      offering(
        new Option(
          "--status <states>",
          "print only these in table, html, markdown, csv and ndjson: pass, fail, manual, n/a",
        ),
        "list",
        () => Promise.resolve(["pass", "fail", "manual", "not_applicable"]),
      ),
    )
    .addOption(failOnOption("what exits with 1: fail, manual, never, fail:high, manual:medium, … (default: fail)"))
    .option("--threshold <file>", "bounds on the counts of rules, as of SAF (YAML or JSON); one not met exits with 1")
    .option("--fail-on-new", "only findings that the baseline does not have count")
    .option("--checklist <file>", "a CKLB or CKL that people worked in: cklb and ckl keep their answers")
    .option("--baseline <report.json>", "mark findings new, unchanged or resolved against an earlier report");
}

function textOrJson(): Option {
  return new Option("--format <format>", "text or json").choices(["text", "json"]).default("text");
}
