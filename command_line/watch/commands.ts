import { Option, type Command } from "commander";
import type { RunCommand } from "../command_io.ts";
import { addExamples } from "../examples.ts";
import type { WatchFlags } from "./watch_command.ts";

/** `watch`: the events of a gateway, for whoever has a key. */
export function addWatchCommand(program: Command, run: RunCommand): void {
  const watch = program
    .command("watch")
    .description("print the events of a scan, or of the tenant")
    .argument("[scan-id]", "the scan's UUID; without it, and without --latest: the whole tenant")
    .option("--latest", "use the newest scan")
    .option("--exit-status", "exit 1 unless the scan completed and no check failed")
    .addOption(new Option("--format <format>", "text by default").choices(["text", "json", "ndjson"]))
    .action((scanId: string | undefined, flags: WatchFlags) =>
      run(async (io) => (await import("./watch_command.ts")).watchCommand(scanId, flags, io)),
    );
  addExamples(watch, "scanstream watch --latest --exit-status", "scanstream watch -f ndjson");
}
