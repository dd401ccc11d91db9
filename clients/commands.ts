import { InvalidArgumentError, Option, type Command } from "commander";
import type { RunCommand } from "../command_line/command_io.ts";
import type { ConformanceFlags } from "./conformance/conformance_command.ts";

/** The commands of those who use a gateway. Each loads its own code, so that `--help` is there at once. */
export function addClientCommands(program: Command, run: RunCommand): void {
  program
    .command("conformance")
    .description("whether a client reads event streams as it should")
    .command("client")
    .description("try a client of any language against scripted streams, and say what a right one does")
    .argument("[command...]", "after --: starts the client, once for each case; without it, clients come by themselves")
    .option("--port <n>", "port on 127.0.0.1; 0: any free one", toWhole(0, 65_535), 0)
    .option("--case <names>", "only these cases or groups, separated by commas")
    .option("--list", "show the cases, run nothing")
    .option("--heartbeat-seconds <n>", "between two heartbeats of a stream; a gateway's own are 15", toSeconds, 15)
    .addOption(textOrJson())
    .addHelpText("after", "\nExample:\n  $ scanstream conformance client -- python3 my_client.py")
    .action((command: readonly string[], flags: ConformanceFlags) =>
      run(async (io) => (await import("./conformance/conformance_command.ts")).conformanceCommand(command, flags, io)),
    );
}

function toWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

function toSeconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0.1 && value <= 60) return value;
  throw new InvalidArgumentError("Expected seconds from 0.1 to 60.");
}

function textOrJson(): Option {
  return new Option("--format <format>", "text or json").choices(["text", "json"]).default("text");
}
