import type { CommandIo } from "../../../command_line/command_io.ts";

export interface OrganizationIo {
  readonly io: CommandIo;
  /** Its output to stdout so far. */
  output(): string;
}

/** Its messages carry its name, and what it writes to stdout is kept, so that several never mix. */
export function ioOfOrganization(name: string, io: CommandIo): OrganizationIo {
  const kept: string[] = [];
  const { terminal } = io;
  return {
    output: () => kept.join(""),
    io: {
      ...io,
      stdout: (text) => void kept.push(text),
      terminal: {
        ...terminal,
        isTTY: false,
        write: (text) => terminal.write(text.replaceAll(/^(?=.)/gm, `${name}: `)),
      },
    },
  };
}
