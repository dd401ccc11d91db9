import { Option, type Command } from "commander";
import { offering } from "../../command_line/completion/offered_values.ts";
import type { CommandName, Setting } from "./setting.ts";
import { table } from "./table.ts";

/** Adds the options of every setting that the command takes. */
export function addSettings(command: Command, name: CommandName): void {
  for (const row of Object.values<Setting<unknown>>(table)) {
    if (row.flag === null || !row.commands.includes(name)) continue;
    const option = new Option(row.flag, helpOf(row));
    if (row.group !== undefined) option.helpGroup(row.group);
    if (row.flag === "--verbose") option.conflicts("quiet");
    const { words } = row;
    if (words !== undefined)
      offering(option, row.form === "list" || row.flag.startsWith("--org ") ? "list" : "one", async () =>
        typeof words === "function" ? words() : words,
      );
    command.addOption(option);
  }
}

function helpOf({ help, variables: [variable] = [] }: Setting<unknown>): string {
  return variable === undefined || help.includes(variable) ? help : `${help} (${variable})`;
}
