import { setFlagsFromString } from "node:v8";
import { Argument, type Command, Option } from "commander";
import type { CommandIo, RunCommand } from "../../command_line/command_io.ts";
import { offering } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { IdpError } from "../okta/idp_error.ts";
import type { Flags } from "../settings/read_settings.ts";
import type { CommandName, Setting } from "../settings/setting.ts";
import { table } from "../settings/table.ts";
import { checkNames } from "../settings/values.ts";

/** A command of the scanner. Its options are those of the settings that it takes. */
interface ScannerCommand {
  readonly name: CommandName;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly examples: readonly [string, ...string[]];
  /** Flag of V8 for a command that may work on a large org. */
  readonly heap?: string;
  /** Loads the command's own code, so that `--help` is there at once. */
  readonly load: () => Promise<ScannerMain>;
}

/** Resolves with the exit code; `words` are the arguments. */
type ScannerMain = (flags: Flags, io: CommandIo, ...words: readonly (string | undefined)[]) => Promise<number>;

/**
 * Keeps V8's young generation as small as it starts: the garbage of a large org's pages is collected instead of growing
 * the heap. Measured on an org of 10,000 apps: 171 MiB at the peak instead of 226, at the same speed.
 */
const smallHeap = "--semi-space-growth-factor=1";
/**
 * Saves memory rather than time, for a process that runs for months and mostly waits. Measured on a follower of 10,000 apps, over its
 * start, changes and full scans: 163 MiB at the peak instead of 221, for half a second more CPU at the start.
 */
const smallestHeap = "--optimize-for-size";

const commands: readonly ScannerCommand[] = [
  {
    name: "setup",
    description: "connect an Okta org, and check each click",
    examples: ["scanstream setup", "scanstream setup --org-url acme.okta.com --client-id 0oa1b2c3d4 --yes"],
    load: async () => (await import("./setup_command.ts")).setupCommand,
  },
  {
    name: "doctor",
    description: "test connection, scopes and role",
    examples: [
      "scanstream doctor",
      "scanstream doctor -v --org-url https://acme.okta.com",
      "scanstream doctor --org acme",
    ],
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
  {
    name: "scan",
    description: "scan an org against the STIG",
    examples: ["scanstream scan", "scanstream scan -f json,html,cklb -o report --fail-on fail:high"],
    heap: smallHeap,
    load: async () => (await import("./scan_command.ts")).scanCommand,
  },
  {
    name: "collect",
    description: "save the evidence of an org",
    examples: ["scanstream collect --save-artifacts evidence.json", "scanstream collect --quiet --save-artifacts -"],
    heap: smallHeap,
    load: async () => (await import("./scan_command.ts")).collectCommand,
  },
  {
    name: "evaluate",
    description: "evaluate saved evidence offline",
    examples: [
      "scanstream evaluate --from-artifacts evidence.json",
      "scanstream evaluate --from-artifacts evidence.json -f oscal -o report --decisions decisions.json",
    ],
    load: async () => (await import("./scan_command.ts")).evaluateCommand,
  },
  {
    name: "explain",
    description: "list the rules, or explain one in your org",
    arguments: [offering(new Argument("[check]", "a check's name, V-, SV- or OKTA-APP-id"), "one", checkNames)],
    examples: [
      "scanstream explain",
      "scanstream explain V-273186",
      "scanstream explain V-273186 --org acme --fresh",
      "scanstream explain V-273186 --from-artifacts evidence.json",
    ],
    load: async () => (await import("./explain_command.ts")).explainCommand,
  },
  {
    name: "fix",
    description: "write Terraform and steps for what fails",
    examples: [
      "scanstream fix -o fixes",
      "scanstream fix --from-artifacts evidence.json -o fixes --severity high",
      "scanstream fix -o fixes --decisions decisions.json --org-policy org_policy.json",
    ],
    heap: smallHeap,
    load: async () => (await import("./fix_command.ts")).fixCommand,
  },
  {
    name: "report",
    description: "write a run's report in any format",
    arguments: [new Argument("[source]", "a run, evidence, a scan.json, or a scan's UUID")],
    examples: [
      "scanstream report -f html -o report",
      "scanstream report --checklist okta.cklb -f cklb,html -o assessor --sign scanner.key",
    ],
    load: async () => (await import("./report_command.ts")).reportCommand,
  },
  {
    name: "diff",
    description: "compare two runs, reports or evidence files",
    arguments: [
      new Argument("[before]", "an earlier run, scan.json or evidence file (default: the run before the last)"),
      new Argument("[after]", "a later file of the same kind (default: the last run)"),
    ],
    examples: [
      "scanstream diff",
      "scanstream diff before/scan.json after/scan.json",
      "scanstream diff before.json after.json -f text,json -o changes",
    ],
    load: async () => (await import("./diff_command.ts")).diffCommand,
  },
  {
    name: "history",
    description: "show when each rule passed or failed",
    arguments: [new Argument("[org]", "id, address or host of one organization (default: all)")],
    examples: [
      "scanstream history --days 90",
      "scanstream history acme.okta.com --rule signon_global_session_idle_timeout_15min --format json",
      "scanstream history --from-reports reports -f json,csv -o history --sign scanner.key",
    ],
    load: async () => (await import("./history_command.ts")).historyCommand,
  },
  {
    name: "verify",
    description: "check the signature of reports or evidence",
    arguments: [new Argument("<path>", "a signed file, or a folder")],
    examples: [
      "scanstream verify report --key scanner.key.pub",
      "scanstream verify report --key scanner.key.pub --org-url https://acme.okta.com --since 2026-01-31",
    ],
    load: async () => (await import("./verify_command.ts")).verifyCommand,
  },
  {
    name: "org-policy",
    description: "draft or check your Access Control policy as data",
    arguments: [
      new Argument("<action>", "draft: write the org as it is; check: what a document covers and names"),
      new Argument("[file]", "the document to check"),
    ],
    examples: [
      "scanstream org-policy draft > org_policy.json",
      "scanstream org-policy check org_policy.json",
      "scanstream org-policy check org_policy.json --org acme",
    ],
    load: async () => (await import("./org_policy_command.ts")).orgPolicyCommand,
  },
  {
    name: "follow",
    description: "report changes of results, and who made them",
    examples: ["scanstream follow", "scanstream follow -i 30 -f ndjson --fail-on fail:high"],
    heap: smallestHeap,
    load: async () => (await import("./follow_command.ts")).followCommand,
  },
];

export function addScannerCommands(program: Command, run: RunCommand): void {
  for (const { name, description, examples, arguments: words = [], heap, load } of commands) {
    const command = program.command(name).description(description);
    for (const word of words) command.addArgument(word);
    addSettings(command, name);
    addExamples(command, ...examples);
    command.action((...given: unknown[]) =>
      run(async (io) => {
        if (heap !== undefined) setFlagsFromString(heap);
        const main = await load();
        const words = given.slice(0, -2) as readonly (string | undefined)[];
        return main(given.at(-2) as Flags, io, ...words).catch((error: unknown) => explainRefusal(error, io));
      }),
    );
  }
}

/** The org lets nobody in: its reason and remedy. */
function explainRefusal(error: unknown, io: CommandIo): number {
  if (!(error instanceof IdpError)) throw error;
  writeLines(io, error.message, error.remedy);
  return exitCodes.refused;
}

/** Adds the options of every setting that the command takes. */
function addSettings(command: Command, name: CommandName): void {
  for (const row of Object.values<Setting<unknown>>(table)) {
    if (row.flag === null || !row.commands.includes(name)) continue;
    const option = new Option(row.flag, helpOf(row));
    if (row.group !== undefined) option.helpGroup(row.group);
    if (row.flag === "--verbose") option.conflicts("quiet");
    const isList = row.form === "list";
    // A list that is given twice is one list, not the last of the two.
    if (isList) option.argParser((value, before?: string) => (before === undefined ? value : `${before},${value}`));
    if (row.words !== undefined) offering(option, isList ? "list" : "one", row.words);
    command.addOption(option);
  }
}

function helpOf({ help, variables: [variable] = [] }: Setting<unknown>): string {
  return variable === undefined || help.includes(variable) ? help : `${help} (${variable})`;
}
