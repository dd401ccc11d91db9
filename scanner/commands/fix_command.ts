import { ownValues } from "../org_policy/document.ts";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { makeDirectory, requireWritable } from "../../command_line/files.ts";
import { listTexts } from "../checks/parsing/names.ts";
import { renderFiles } from "../fix/fix_files.ts";
import { planFixes } from "../fix/plan_fixes.ts";
import { renderPlanPage } from "../fix/plan_page.ts";
import type { Flags } from "../settings/read_settings.ts";
import { writeNamedFile } from "./report_output.ts";
import { openSource, reportOn } from "./sources.ts";

const fixFileNames = ["main.tf", "variables.tf", "terraform.tfvars.example", "plan.md"];

/** `fix`: writes Terraform and manual steps that make failing checks pass. Changes nothing in the org. */
export async function fixCommand(flags: Flags, io: CommandIo): Promise<number> {
  const { output } = flags;
  if (typeof output !== "string" || output.trim() === "")
    throw new UsageError(["--output DIR is missing: expected a directory for main.tf, variables.tf and plan.md"]);
  await requireNewFolder(output);
  const source = await openSource("fix", flags, io);
  const { settings, document } = source;
  const { evaluated_at: evaluatedAt, artifacts, scan } = document;
  if (settings.fromArtifacts === null) requireRecent(evaluatedAt, io);
  const directory = { option: "--output", file: output };
  const { report, run } = await reportOn(source, io);
  const plan = planFixes(report.checks, artifacts, ownValues(run.orgPolicy, evaluatedAt).parameters);
  await requireWritable({ directory, fileNames: fixFileNames });
  const origin = { orgUrl: scan.org_url, collectedAt: evaluatedAt };
  const texts = {
    ...renderFiles(plan, origin),
    "plan.md": renderPlanPage({ plan, results: report.checks, origin, artifacts }),
  };
  if (Object.keys(texts).some((name) => name.startsWith("pages/"))) await makeDirectory(join(output, "pages"));
  let areWritten = true;
  for (const [name, text] of Object.entries(texts)) {
    const place = { ...directory, file: join(output, name) };
    areWritten = (await writeNamedFile(place, text, { io, isQuiet: settings.quiet })) && areWritten;
  }
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  io.stdout(
    `${countOf(plan.fixed.length, "failing finding")} ${plan.fixed.length === 1 ? "is" : "are"} in the plan: ${countOf(imported, "object")} imported, ${plan.resources.length - imported} new\n` +
      `${countOf(plan.byHand.length, "finding")} left to you, with steps in plan.md\n`,
  );
  return areWritten ? exitCodes.ok : exitCodes.usage;
}

/** Throws `UsageError` for a run that is older than a day: a plan of what the org was would be applied to what it is. */
function requireRecent(evaluatedAt: string, { now }: CommandIo): void {
  const hours = Math.floor((now().getTime() - Date.parse(evaluatedAt)) / 3_600_000);
  if (hours < 24) return;
  throw new UsageError([
    `The last run is ${hours} hours old (${evaluatedAt}): expected one of the last 24 hours; scan again with --fresh`,
  ]);
}

/**
 * Throws `UsageError` for a folder that has a plan or a Terraform state. Terraform would destroy the objects of its state that
 * another plan does not name.
 */
async function requireNewFolder(directory: string): Promise<void> {
  // A folder that is not there, or cannot be listed: whether it can be written is found later.
  const names = await readdir(directory).catch((): string[] => []);
  const found = [...fixFileNames, "pages", "terraform.tfstate", "terraform.tfstate.d", ".terraform"].filter((name) =>
    names.includes(name),
  );
  if (found.length === 0) return;
  throw new UsageError([
    `--output ${JSON.stringify(directory)}: it has ${listTexts(found)}, and fix replaces no plan and no file: expected a new directory`,
  ]);
}
