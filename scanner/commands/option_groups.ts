import { Option, type Command } from "commander";
import { offering, wordsOption, type OfferedValue } from "../../command_line/completion/offered_values.ts";

/** The options that several commands of the scanner share, each described once. */

export function signOption(): Option {
  return new Option(
    "--sign <file>",
    "sign the files with this private key (SCANSTREAM_SIGNING_KEY_FILE, or SCANSTREAM_SIGNING_KEY)",
  );
}

export function addConnectionOptions(command: Command): void {
  command.optionsGroup("Connection:");
  command
    .option("--org-url <url>", "address of the Okta org (IDP_ORG_URL)")
    .option("--client-id <id>", "client id of the service app (IDP_CLIENT_ID)")
    .option("--private-key-file <file>", "private key of the service app (IDP_PRIVATE_KEY_FILE, or IDP_PRIVATE_KEY)")
    .option("--concurrency <n>", "maximum number of parallel requests")
    .option("--timeout <seconds>", "time limit for one request");
}

export function addSelectionOptions(command: Command): void {
  command.optionsGroup("Checks:");
  command
    .addOption(checkNamesOption("--check <names>", checkHelp))
    .addOption(checkNamesOption("--exclude <names>", "checks to skip"))
    .addOption(
      wordsOption(
        "--severity <levels>",
        "run only checks of these severities: high, medium, low (CAT I, II, III), separated by commas",
        "list",
        ["high", "medium", "low"],
      ),
    );
}

/** The options of every command that evaluates: which checks, by which limits, and which findings are accepted. */
export function addJudgingOptions(command: Command): void {
  addSelectionOptions(command);
  addRuleOptions(command);
  command.optionsGroup("Decisions:");
  command
    .option("--waivers <file>", "waivers: accepted findings, with an expiry date")
    .option("--attestations <file>", "attestations: manual answers for checks that the API cannot decide")
    .option("--decisions-from-gateway", "also use the decisions stored at the gateway (SCANSTREAM_URL)");
}

export function addVerbosityOptions(command: Command): void {
  command.optionsGroup("Output:");
  command.option("--quiet", "print only problems, no progress").addOption(verboseOption().conflicts("quiet"));
}

export function verboseOption(): Option {
  return new Option(
    "--verbose",
    "print every rule and finding; on stderr, the time of each request, wait, collector and check",
  );
}

/** For a command that works on every organization of the file. */
export function addSeveralOrganizationsOptions(command: Command): void {
  addOrganizationOptions(
    command,
    ["--org <names>", "only these organizations of the file, separated by commas"],
    "list",
  );
}

/** For a command that works on one organization of the file. */
export function addOneOrganizationOptions(command: Command): void {
  addOrganizationOptions(command, ["--org <name>", "the organization of the file"], "one");
}

function addOrganizationOptions(command: Command, org: readonly [flags: string, text: string], kind: "one" | "list") {
  const names = async () => (await import("./organizations/read_config_file.ts")).organizationNames();
  command.optionsGroup("Organizations:");
  command
    .option("--config <file>", "configuration file (default: scanstream.config.json, if it exists)")
    .option("--no-config", "ignore scanstream.config.json")
    .addOption(offering(new Option(...org), kind, names));
}

export function addConfigOptions(command: Command): void {
  addSeveralOrganizationsOptions(command);
  command.option("--parallel <n>", "number of organizations to scan at the same time (default: 4)");
}

const checkHelp = "run only these checks: names or V-, SV- or OKTA-APP- ids, separated by commas";

function checkNamesOption(flags: string, description: string): Option {
  return offering(new Option(flags, description), "list", checkNames);
}

export async function checkNames(): Promise<readonly OfferedValue[]> {
  const { catalog } = await import("../catalog/catalog.ts");
  return catalog.map(({ name, rule }) => ({ value: name, description: `${rule.vuln_id} ${rule.title}` }));
}

export function failOnOption(description: string): Option {
  return offering(new Option("--fail-on <what>", description), "one", () =>
    Promise.resolve([
      "never",
      ...["fail", "manual"].flatMap((word) => [word, ...["high", "medium", "low"].map((level) => `${word}:${level}`)]),
    ]),
  );
}

export function addRuleOptions(command: Command): void {
  command.optionsGroup("Checks:");
  command
    .option("--parameters <file>", "override the STIG's limits, such as idle minutes (JSON)")
    .addOption(benchmarkOption());
}

/** The revision of the STIG that a command evaluates by. */
export function benchmarkOption(): Option {
  return new Option("--benchmark <file>", "another revision of the STIG: DISA's zip, or the XCCDF in it");
}

/** Those of `reports/formats.ts`, which is loaded only when a report is written or a shell completes one. */
const formatNames = "table, json, csv, sarif, junit, ocsf, cklb, ckl, hdf, xccdf, oscal, poam, html, markdown";

export function addReportOptions(command: Command): void {
  command.optionsGroup("Report and exit code:");
  command
    .addOption(
      offering(
        new Option(
          "--format <formats>",
          `report formats, separated by commas (default: table): ${formatNames}, or all`,
        ),
        "list",
        async () => [...(await import("../reports/formats.ts")).reportFormats.map(({ name }) => name), "all"],
      ),
    )
    .option("--output <dir>", "directory for the reports, one scan.<ext> for each format")
    .addOption(signOption())
    .addOption(
      wordsOption(
        "--status <states>",
        "list only these states in table, html, markdown and csv: pass, fail, manual, n/a",
        "list",
        ["pass", "fail", "manual", "not_applicable"],
      ),
    )
    .addOption(
      failOnOption("exit 1 for these findings: fail, manual, never, fail:high, manual:medium, … (default: fail)"),
    )
    .option("--fail-on-new", "exit 1 only for findings that are not in the baseline")
    .option("--allow-unread", "exit 0 although rules have no result because something could not be read")
    .option("--checklist <file>", "an edited CKLB or CKL checklist; cklb and ckl reports keep its answers")
    .option("--poam-per-finding", "poam: one line for each finding, instead of for each rule")
    .option("--baseline <report.json>", "compare with an earlier report (new, unchanged, resolved)");
}

export function textOrJson(more: readonly string[] = []): Option {
  const formats = ["text", "json", ...more];
  const words = `${formats.slice(0, -1).join(", ")} or ${formats.at(-1) ?? ""}`;
  return new Option("--format <format>", words).choices(formats).default("text");
}
