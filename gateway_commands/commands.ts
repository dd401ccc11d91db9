import type { Command } from "commander";
import type { RunCommand } from "../command_line/command_io.ts";
import { wordsOption } from "../command_line/completion/offered_values.ts";
import { addExamples } from "../command_line/examples.ts";
import type { FindingsListFlags, ListFlags, ScansListFlags } from "./list_commands.ts";
import { formats, toWhole } from "./options.ts";
import type { WatchFlags } from "./watch_command.ts";

/** The commands of those who use a gateway. Each loads its own code, so that `--help` is there at once. */
export function addClientCommands(program: Command, run: RunCommand): void {
  addScanCommands(program, run);
  const watch = program
    .command("watch")
    .description("print the events of a scan until it ends, or of the whole tenant until Ctrl-C")
    .argument("[scan-id]", "the scan's UUID; without it, and without --latest: the whole tenant")
    .option("--latest", "use the newest scan")
    .option("--exit-status", "exit 1 unless the scan completed and no check failed")
    .addOption(formats("text", "json", "ndjson"))
    .action((scanId: string | undefined, flags: WatchFlags) =>
      run(async (io) => (await import("./watch_command.ts")).watchCommand(scanId, flags, io)),
    );
  addExamples(watch, "scanstream watch --latest --exit-status", "scanstream watch -f ndjson");
}

function addScanCommands(program: Command, run: RunCommand): void {
  const scans = program.command("scans").description("manage the scans stored at the gateway");
  addExamples(scans, "scanstream scans list");
  const list = scans
    .command("list")
    .description("list scans, newest first")
    .option("--limit <n>", "maximum number of scans", toWhole(1, 1_000_000), 50)
    .addOption(formats("table", "json", "ndjson"))
    .action((flags: ScansListFlags) =>
      run(async (io) => (await import("./list_commands.ts")).scansListCommand(flags, io)),
    );
  addExamples(list, "scanstream scans list -n 5 -f json");
  const show = scans
    .command("show")
    .description("show one scan")
    .argument("<scan-id>", "the scan's UUID")
    .addOption(formats("text", "json"))
    .action((scanId: string, flags: ListFlags) =>
      run(async (io) => (await import("./list_commands.ts")).scansShowCommand(scanId, flags, io)),
    );
  addExamples(show, `scanstream scans show ${scanIdExample}`);
  const cancel = scans
    .command("cancel")
    .description("ask a scan to stop within seconds; results so far are published")
    .argument("<scan-id>", "the scan's UUID")
    .addOption(formats("text", "json"))
    .action((scanId: string, flags: ListFlags) =>
      run(async (io) => (await import("./list_commands.ts")).scansCancelCommand(scanId, flags, io)),
    );
  const remove = scans
    .command("delete")
    .description("delete a scan, its findings and its report; a running scan stops")
    .argument("<scan-id>", "the scan's UUID")
    .action((scanId: string) => run(async (io) => (await import("./list_commands.ts")).scansDeleteCommand(scanId, io)));
  addExamples(remove, `scanstream scans delete ${scanIdExample}`);
  addExamples(cancel, `scanstream scans cancel ${scanIdExample}`);

  const findings = program.command("findings").description("show the findings stored at the gateway");
  addExamples(findings, "scanstream findings list --latest");
  const findingsList = findings
    .command("list")
    .description("list every finding of a scan, failures first")
    .argument("[scan-id]", "the scan's UUID")
    .option("--latest", "use the newest scan")
    .addOption(
      wordsOption("--status <statuses>", "only these states: pass, fail, manual, n/a, separated by commas", "list", [
        "pass",
        "fail",
        "manual",
        "not_applicable",
      ]),
    )
    .option("--check <names>", "only these checks: names or V-, SV- or OKTA-APP- ids, separated by commas")
    .addOption(formats("table", "json", "ndjson"))
    .action((scanId: string | undefined, flags: FindingsListFlags) =>
      run(async (io) => (await import("./list_commands.ts")).findingsListCommand(scanId, flags, io)),
    );
  addExamples(findingsList, "scanstream findings list --latest --status fail,manual -f ndjson");
}

const scanIdExample = "6f1d7a52-0c7e-4b7d-9a55-3c0c1f5b8e21";
