import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable } from "../../command_line/files.ts";
import { readParameters } from "../decisions/parameters.ts";
import { compareFiles } from "../diff/compare_files.ts";
import { renderText } from "../diff/diff_text.ts";
import { readComparedFile } from "../diff/read_side.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { chooseFormats, fileNameOf, writeFormats } from "../reports/write_reports.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { settingsOfSaved } from "../settings/organizations.ts";
import type { Flags } from "../settings/read_settings.ts";

const diffFormats: readonly Format<Diff, { readonly width: number }>[] = [
  { name: "text", extension: "txt", render: renderText },
  { name: "json", extension: "json", render: (diff) => `${toJson(diff)}\n` },
];

/** `diff BEFORE AFTER`: 0 where nothing differs, 1 where something does. */
export async function diffCommand(
  files: { readonly before: string; readonly after: string },
  flags: Flags,
  io: CommandIo,
): Promise<number> {
  const before = await readComparedFile(files.before);
  const after = await readComparedFile(files.after);
  const settings = await settingsOfSaved("diff", flags, { io, orgUrl: after.orgUrl });
  const { diffFormat, writeTo: directory, approvedIssuers } = settings;
  const formats = chooseFormats(diffFormats, diffFormat, directory);
  const approved = { issuers: approvedIssuers, name: settings.nameOf("approvedIssuers") };
  const limits = { approvedIssuers, parameters: await readParameters(settings.parameters, approved) };
  const diff = compareFiles(before.compare(limits), after.compare(limits));
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
