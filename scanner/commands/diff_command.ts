import { catalog } from "../catalog/catalog.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { readOrgPolicy } from "../org_policy/read_org_policy.ts";
import { renderText } from "../diff/diff_text.ts";
import { compareFiles, readComparedFile } from "../diff/compare_files.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { chooseFormats, requireTarget, writeFormats } from "../reports/write_reports.ts";
import type { Diff } from "../diff/diff_schema.ts";
import { oneOrganization, settingsOfSaved } from "../settings/organizations.ts";
import { readSettings, type Flags } from "../settings/read_settings.ts";
import { listRuns } from "../runs/kept_runs.ts";
import { UsageError } from "../../shared/usage_error.ts";

const diffFormats: readonly Format<Diff, { readonly width: number }>[] = [
  { name: "text", extension: "txt", render: renderText },
  { name: "json", extension: "json", render: (diff) => toJson(diff) },
];

type ComparedNames = readonly [before?: string | undefined, after?: string | undefined];

/** `diff BEFORE AFTER`: 0 where nothing differs, 1 where something does. */
export async function diffCommand(flags: Flags, io: CommandIo, ...named: ComparedNames): Promise<number> {
  const files = await comparedFiles(named, flags, io);
  const before = await readComparedFile(files.before);
  const after = await readComparedFile(files.after);
  const settings = await settingsOfSaved("diff", flags, { io, orgUrl: after.about.org_url });
  const { diffFormat, writeTo: directory } = settings;
  const formats = chooseFormats(diffFormats, diffFormat, directory);
  const known = { orgUrl: after.about.org_url, checks: catalog };
  const diff = compareFiles(before, after, await readOrgPolicy(settings.orgPolicy, known));
  const target = { name: "diff", formats, outputDir: directory, stdout: io.stdout };
  await requireTarget(target);
  const { files: written, problems } = await writeFormats(diff, { width: io.terminal.columns }, target);
  writeLines(io, ...written.map((path) => `Wrote ${path}`), ...problems);
  if (problems.length > 0) return exitCodes.usage;
  return diff.identical ? exitCodes.ok : exitCodes.findings;
}

/** A side that is not named is the newest run, or the one before it. */
async function comparedFiles(
  [before, after]: ComparedNames,
  flags: Flags,
  io: CommandIo,
): Promise<{ readonly before: string; readonly after: string }> {
  if (before !== undefined && after !== undefined) return { before, after };
  const { orgUrl } = readSettings(await oneOrganization("diff", flags, io));
  const [newest, earlier] = await listRuns(orgUrl);
  const file = before ?? earlier?.evidence;
  if (newest === undefined || file === undefined)
    throw new UsageError([
      `Cannot compare runs: ${newest === undefined ? "none is" : "only one is"} kept; expected two scans, or BEFORE and AFTER`,
    ]);
  const isReport = before !== undefined && (await readComparedFile(before)).artifacts === null;
  return { before: file, after: isReport ? newest.report : newest.evidence };
}
