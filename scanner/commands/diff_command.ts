import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable } from "../../command_line/files.ts";
import { readApprovedIssuers } from "../config.ts";
import { compareFiles } from "../diff/compare_files.ts";
import { renderText } from "../diff/diff_text.ts";
import { readComparedFile } from "../diff/read_side.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { fileNameOf, writeFormats } from "../reports/write_reports.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { parseFormats } from "./scan_options.ts";

export interface DiffFlags {
  readonly format?: string;
  readonly output?: string;
}

const diffFormats: readonly Format<Diff, { readonly width: number }>[] = [
  { name: "text", extension: "txt", render: renderText },
  { name: "json", extension: "json", render: (diff) => `${toJson(diff)}\n` },
];

/** `diff BEFORE AFTER`: 0 where nothing differs, 1 where something does. */
export async function diffCommand(
  files: { readonly before: string; readonly after: string },
  flags: DiffFlags,
  io: CommandIo,
): Promise<number> {
  const formats = parseFormats({ ...flags, format: flags.format ?? "text" }, diffFormats);
  const directory = flags.output ?? null;
  const approvedIssuers = readApprovedIssuers(io.env);
  const before = await readComparedFile(files.before, approvedIssuers);
  const after = await readComparedFile(files.after, approvedIssuers);
  const diff = compareFiles(before, after);
  await requireWritable({ directory, fileNames: formats.map((format) => fileNameOf("diff", format)) });
  const { files: written, problems } = await writeFormats(
    diff,
    { formats, outputDir: directory, stdout: io.stdout, name: "diff" },
    { onStdout: { width: io.terminal.columns }, ofFile: { width: 120 } },
  );
  for (const line of [...written.map((path) => `Wrote ${path}`), ...problems]) io.terminal.write(`${line}\n`);
  if (problems.length > 0) return exitCodes.usage;
  return diff.identical ? exitCodes.ok : exitCodes.findings;
}
