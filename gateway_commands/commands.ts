import type { Command } from "commander";
import type { RunCommand } from "../command_line/command_io.ts";
import { wordsOption } from "../command_line/completion/offered_values.ts";
import { addExamples } from "../command_line/examples.ts";
import type { WatchFlags } from "./watch_command.ts";

/** The commands of those who use a gateway. Each loads its own code, so that `--help` is there at once. */
export function addClientCommands(program: Command, run: RunCommand): void {
  const watch = program
    .command("watch")
    .description("print the events of a scan until it ends, or of the whole tenant until Ctrl-C")
    .argument("[scan-id]", "the scan's UUID; without it, and without --latest: the whole tenant")
    .option("--latest", "use the newest scan")
    .option("--exit-status", "exit 1 unless the scan completed and no check failed")
    .addOption(wordsOption("--format <format>", "text (default), json or ndjson", "one", ["text", "json", "ndjson"]))
    .action((scanId: string | undefined, flags: WatchFlags) =>
      run(async (io) => (await import("./watch_command.ts")).watchCommand(scanId, flags, io)),
    );
  addExamples(watch, "scanstream watch --latest --exit-status", "scanstream watch -f ndjson");
}
