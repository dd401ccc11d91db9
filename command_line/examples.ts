import type { Command } from "commander";

/** Lines of a shell that begin with `scanstream`, shown below the command's help. */
export function addExamples(command: Command, ...lines: readonly [string, ...string[]]): Command {
  const heading = lines.length === 1 ? "Example" : "Examples";
  return command.addHelpText("after", `\n${heading}:\n${lines.map((line) => `  $ ${line}`).join("\n")}`);
}
