import { join } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable, writeWhole } from "../../command_line/files.ts";
import { readApprovedIssuers } from "../config.ts";
import { compareFiles } from "../diff/compare_files.ts";
import { diffFormats, type DiffFormat } from "../diff/diff_formats.ts";
import { readComparedFile } from "../diff/read_side.ts";
import { parseFormats } from "./scan_options.ts";

export interface DiffFlags {
  readonly format?: string;
  readonly output?: string;
}

/** `diff BEFORE AFTER`: 0 where nothing differs, 1 where something does. */
export async function diffCommand(
  files: { readonly before: string; readonly after: string },
  flags: DiffFlags,
  io: CommandIo,
): Promise<number> {
  const formats = parseFormats(flags, diffFormats);
  const directory = flags.output ?? null;
  const approvedIssuers = readApprovedIssuers(io.env);
  const before = await readComparedFile(files.before, approvedIssuers);
  const after = await readComparedFile(files.after, approvedIssuers);
  const diff = compareFiles(before, after);
  await requireWritable({ directory, fileNames: formats.map(fileName) });
  let areWritten = true;
  for (const format of formats) {
    if (directory === null) {
      io.stdout(format.render(diff, { width: io.terminal.columns }));
      continue;
    }
    const path = join(directory, fileName(format));
    const problem = await writeWhole({ option: "--output", path }, format.render(diff, { width: 120 }));
    io.terminal.write(`${problem ?? `Wrote ${path}`}\n`);
    areWritten &&= problem === null;
  }
  if (!areWritten) return exitCodes.usage;
  return diff.identical ? exitCodes.ok : exitCodes.findings;
}

function fileName({ extension }: DiffFormat): string {
  return `diff.${extension}`;
}
