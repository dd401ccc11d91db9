import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { readOrgPolicy } from "../org_policy/read_org_policy.ts";
import { renderText } from "../diff/diff_text.ts";
import { compareFiles, type ComparedFile } from "../diff/compare_files.ts";
import { toJson, type Format } from "../reports/report_format.ts";
import { chooseFormats, requireTarget, writeFormats } from "../reports/write_reports.ts";
import type { Diff } from "../diff/diff_schema.ts";
import { oneOrganization, settingsOfSaved } from "../settings/organizations.ts";
import { readSettings, type Flags } from "../settings/read_settings.ts";
import { listRuns } from "../runs/kept_runs.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readRevision } from "../revisions/revision.ts";
import { noteRevision, readNamed } from "./sources.ts";

const diffFormats: readonly Format<Diff, { readonly width: number }>[] = [
  { name: "text", extension: "txt", render: renderText },
  { name: "json", extension: "json", render: (diff) => toJson(diff) },
];

type ComparedNames = readonly [before?: string | undefined, after?: string | undefined];

/** `diff BEFORE AFTER`: 0 where nothing differs, 1 where something does. */
export async function diffCommand(flags: Flags, io: CommandIo, ...named: ComparedNames): Promise<number> {
  const [before, after] = await readSides(named, flags, io);
  const { org_url: orgUrl } = after.content.scan;
  const settings = await settingsOfSaved("diff", flags, { io, orgUrl });
  const { diffFormat, writeTo: outputDir } = settings;
  const formats = chooseFormats(diffFormats, diffFormat, outputDir);
  const revision = await readRevision(settings.benchmark);
  const orgPolicy = await readOrgPolicy(settings.orgPolicy, { orgUrl, checks: revision.checks });
  for (const benchmark of new Set([before.benchmark, after.benchmark])) noteRevision(benchmark, settings, io);
  const diff = compareFiles(before, after, { orgPolicy, revision });
  const target = { name: "diff", formats, outputDir, stdout: io.stdout };
  await requireTarget(target);
  const { files, problems } = await writeFormats(diff, { width: io.terminal.columns }, target);
  writeLines(io, ...files.map((path) => `Wrote ${path}`), ...problems);
  if (problems.length > 0) return exitCodes.usage;
  return diff.identical ? exitCodes.ok : exitCodes.findings;
}

/** A side that is not named is the newest run, or the one before it. */
async function readSides([before, after]: ComparedNames, flags: Flags, io: CommandIo) {
  if (before !== undefined && after !== undefined) return [await readSide(before), await readSide(after)] as const;
  const { orgUrl } = readSettings(await oneOrganization("diff", flags, io));
  const [newest, earlier] = await listRuns(orgUrl);
  const file = before ?? earlier?.folder;
  if (newest === undefined || file === undefined)
    throw new UsageError([
      `Cannot compare runs: ${newest === undefined ? "none is" : "only one is"} kept; expected two scans, or BEFORE and AFTER`,
    ]);
  const side = await readSide(file);
  return [side, await readSide(side.content.schema === "scanstream.report/1" ? newest.report : newest.folder)] as const;
}

async function readSide(file: string): Promise<ComparedFile> {
  const saved = await readNamed(file, "the file");
  return "schema" in saved ? { file, content: saved } : { file, content: saved.document, benchmark: saved.benchmark };
}
