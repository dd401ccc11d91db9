import type { Command } from "commander";

/** One letter for one option, in every command that has it. `-h` is help, `-V` the version. */
const shortFlags: Readonly<Record<string, string>> = {
  "--baseline": "-b",
  "--check": "-c",
  "--decisions": "-d",
  "--exclude": "-x",
  "--format": "-f",
  "--interval": "-i",
  "--latest": "-l",
  "--limit": "-n",
  "--output": "-o",
  "--port": "-p",
  "--quiet": "-q",
  "--severity": "-s",
  "--tenant": "-t",
  "--verbose": "-v",
};

/** Gives them to all options of the command and of those below it: a new command has them without its own word. */
export function addShortFlags(command: Command): void {
  for (const option of command.options) {
    const short = shortFlags[option.long ?? ""];
    if (short === undefined || option.short !== undefined) continue;
    option.short = short;
    option.flags = `${short}, ${option.flags}`;
  }
  for (const below of command.commands) addShortFlags(below);
}
