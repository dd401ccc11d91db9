import { Argument, Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { offering } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import type { FixFlags } from "./fix_command.ts";
import type { PackageFlags } from "./package_command.ts";
import type { KeygenFlags, VerifyFlags } from "./signature_commands.ts";
import type { FollowFlags } from "./follow_options.ts";
import { keepHeapSmall, keepHeapSmallest } from "./keep_heap_small.ts";
import type { CatalogFlags, ExplainFlags } from "./catalog_commands.ts";
import type { DiffFlags } from "./diff_command.ts";
import type { ConfiguredScanFlags } from "./organizations/configured_scan_command.ts";
import type { DoctorFlags } from "./doctor_command.ts";
import type { SetupFlags } from "./setup_command.ts";
import type { StigFlags } from "./stig_command.ts";
import type { CollectFlags, EvaluateFlags } from "./evidence_commands.ts";
import {
  addConfigOptions,
  addConnectionOptions,
  addJudgingOptions,
  addOneOrganizationOptions,
  addReportOptions,
  addRuleOptions,
  addSelectionOptions,
  addSeveralOrganizationsOptions,
  addVerbosityOptions,
  benchmarkOption,
  checkNames,
  failOnOption,
  signOption,
  textOrJson,
  verboseOption,
} from "./option_groups.ts";

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
    .description("save the evidence of an org, without evaluating it")
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
    .option("--output <dir>", "where main.tf, variables.tf and plan.md go (required)")
    .option("--impact [days]", "say whom each change would have blocked in the last days (1 to 90, default 30)")
    .option("--only <id...>", "plan these causes only, by the ids that scan --verbose shows");
  addOneOrganizationOptions(fix);
  addConnectionOptions(fix);
  addJudgingOptions(fix);
  addVerbosityOptions(fix);
  addExamples(
    fix,
    "scanstream fix -o fixes",
    "scanstream fix --from-artifacts evidence.json -o fixes --severity high",
    "scanstream fix -o fixes --waivers decisions.json --parameters limits.json",
    "scanstream fix -o fixes --impact 30",
    "scanstream fix -o fixes --only 9b23c2a6313d",
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
  addStigCommands(program, run);
  addSignatureCommands(program, run);
  addConnectedCommands(program, run);
}

function addSignatureCommands(program: Command, run: RunCommand): void {
  const keygen = program
    .command("keygen")
    .description("make a key pair for --sign")
    .option("--output <file>", "the private key goes here, the public key to FILE.pub (required)")
    .addOption(new Option("--algorithm <name>", "p256 or ed25519").choices(["p256", "ed25519"]).default("p256"));
  addExamples(keygen, "scanstream keygen --output scanner.key");
  keygen.action((flags: KeygenFlags) =>
    run(async (io) => (await import("./signature_commands.ts")).keygenCommand(flags, io)),
  );
  const verify = program
    .command("verify")
    .description("check who signed reports or evidence, and that nothing was changed")
    .argument("<path>", "a signed file, a folder, or a zip of `package`")
    .option("--key <file>", "public key of whoever signs (required)")
    .option("--org-url <url>", "refuse files about any other org")
    .option("--since <time>", "refuse a scan that ended before")
    .option("--write-pae <file>", "write the signed bytes for openssl, and the signature to FILE.sig");
  addExamples(
    verify,
    "scanstream verify report --key scanner.key.pub",
    "scanstream verify okta.zip --key scanner.key.pub --org-url https://acme.okta.com --since 2026-01-31",
  );
  verify.action((path: string, flags: VerifyFlags) =>
    run(async (io) => (await import("./signature_commands.ts")).verifyCommand(path, flags, io)),
  );
  const pack = program
    .command("package")
    .description("put what an assessor loads into one zip: checklists, OSCAL, POA&M, evidence, signature")
    .argument("[scan]", "id of a scan that a gateway keeps")
    .option("--from-artifacts <file>", "evidence that `scan` or `collect` saved, - for stdin")
    .option("--latest", "the newest scan that was completed")
    .option("--output <file>", "the zip file (required)")
    .addOption(signOption());
  addJudgingOptions(pack);
  addVerbosityOptions(pack);
  addExamples(
    pack,
    "scanstream package --from-artifacts evidence.json --output okta.zip --sign scanner.key",
    "scanstream package --latest --output okta.zip",
  );
  pack.action((scan: string | undefined, flags: PackageFlags) =>
    run(async (io) => (await import("./package_command.ts")).packageCommand(scan, flags, io)),
  );
}

function addCatalogCommands(program: Command, run: RunCommand): void {
  const checks = program
    .command("checks")
    .description("list every check: STIG ids, category, severity, scopes, role")
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
    .option("--from-artifacts <file>", "evidence of an org: also say what decides there")
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
  const stig = program.command("stig").description("the revisions of DISA's STIG: list, show, compare and add them");
  addExamples(stig, "scanstream stig list", "scanstream stig show");
  const list = stig
    .command("list")
    .description("list the revisions that this machine has")
    .addOption(textOrJson())
    .action((flags: StigFlags) => run(async (io) => (await import("./stig_command.ts")).listStigs(flags, io)));
  addExamples(list, "scanstream stig list", "scanstream stig list --format json");
  const show = stig
    .command("show")
    .description("list the rules of a revision, and which of them are judged")
    .argument("[revision]", "name or file (default: the built-in one)")
    .addOption(textOrJson())
    .action((name: string | undefined, flags: StigFlags) =>
      run(async (io) => (await import("./stig_command.ts")).showStig(name, flags, io)),
    );
  addExamples(show, "scanstream stig show", "scanstream stig show okta-idaas-stig-v1r2 --format json");
  const diff = stig
    .command("diff")
    .description("say what DISA changed between two revisions")
    .argument("<before>", "name or file")
    .argument("<after>", "name or file")
    .addOption(textOrJson())
    .action((before: string, after: string, flags: StigFlags) =>
      run(async (io) => (await import("./stig_command.ts")).diffStigs({ before, after }, flags, io)),
    );
  addExamples(diff, "scanstream stig diff okta-idaas-stig-v1r2 okta-idaas-stig-v1r2");
  const add = stig
    .command("add")
    .description("keep a revision for --benchmark: DISA's zip, or the XCCDF in it")
    .argument("<file>", "U_Okta_IDaaS_V1R2_STIG.zip, or its xccdf.xml")
    .action((file: string) => run(async (io) => (await import("./stig_command.ts")).addStig(file, io)));
  addExamples(add, "scanstream stig add U_Okta_IDaaS_V1R2_STIG.zip");
}

function addConnectedCommands(program: Command, run: RunCommand): void {
  const setup = program
    .command("setup")
    .description("connect an Okta org: make a key, say what to click, check each click")
    .option("--org-url <url>", "address of the Okta org, such as acme.okta.com")
    .option("--client-id <id>", "client id of the service app, if it exists already")
    .option("--config <file>", "configuration file to write (default: scanstream.config.json)")
    .option("--terraform <dir>", "also write the app, its scopes and its role as Terraform there")
    .option("--yes", "ask nothing and scan nothing: look once, and exit 2 while something is left to do");
  addExamples(
    setup,
    "scanstream setup",
    "scanstream setup --org-url acme.okta.com --terraform okta-setup",
    "scanstream setup --org-url acme.okta.com --client-id 0oa1b2c3d4 --yes",
  );
  setup.action((flags: SetupFlags) => run(async (io) => (await import("./setup_command.ts")).setupCommand(flags, io)));

  const doctor = program
    .command("doctor")
    .description("test the connection, scopes and role, and say what to fix where")
    .addOption(textOrJson());
  addSeveralOrganizationsOptions(doctor);
  addConnectionOptions(doctor);
  doctor.addOption(verboseOption());
  addExamples(
    doctor,
    "scanstream doctor",
    "scanstream doctor -v --org-url https://acme.okta.com",
    "scanstream doctor --org acme",
  );
  doctor.action((flags: DoctorFlags) =>
    run(async (io) => (await import("./doctor_command.ts")).doctorCommand(flags, io)),
  );

  const follow = program
    .command("follow")
    .description("watch the org; report each change that alters a result, and who made it")
    .option("--state <dir>", "directory for saved state (default: .scanstream/follow)")
    .option("--interval <seconds>", "time between two polls of the System Log (default: 10)")
    .option("--reconcile <hours>", "time between two full scans (default: 6)")
    .option("--once", "catch up from the saved state, then exit")
    .option("--until-clean", "exit 0 as soon as every check passes")
    .addOption(
      failOnOption(
        "exit 1 when a new finding of this kind appears: fail, manual, never, fail:high, … (default: never)",
      ),
    )
    .addOption(
      offering(new Option("--format <format>", "table or ndjson (default: table)"), "one", () =>
        Promise.resolve(["table", "ndjson"]),
      ),
    )
    .option("--with-addresses", "include the IP address of who made a change")
    .option("--no-stream", "do not send the monitor to the gateway");
  addOneOrganizationOptions(follow);
  addConnectionOptions(follow);
  addJudgingOptions(follow);
  addVerbosityOptions(follow);
  addExamples(follow, "scanstream follow", "scanstream follow -i 30 -f ndjson --fail-on fail:high");
  follow.action((flags: FollowFlags) =>
    run(async (io) => {
      keepHeapSmallest();
      const of = await (await import("./organizations/one_organization.ts")).forOrganization(flags, io);
      return (await import("./follow_command.ts")).followCommand(of.flags, of.io);
    }),
  );
}
