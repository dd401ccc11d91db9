import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { makeDirectory, requireWritable, writeWhole } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { listTexts } from "../checks/parsing/names.ts";
import type { ScannerFlags } from "../config.ts";
import { applyDecisions } from "../decisions/decisions.ts";
import { renderFiles } from "../fix/fix_files.ts";
import { planFixes } from "../fix/plan_fixes.ts";
import { renderPlanPage } from "../fix/plan_page.ts";
import { readJudging, type JudgingFlags } from "./judging_options.ts";
import { findVerdicts } from "./org_evidence.ts";
import { newProgress } from "./progress.ts";

export interface FixFlags extends ScannerFlags, JudgingFlags {
  readonly fromArtifacts?: string;
  readonly output?: string;
  readonly verbose?: boolean;
}

const fixFileNames = ["main.tf", "variables.tf", "terraform.tfvars.example", "plan.md"];

/** `fix`: writes Terraform and manual steps that make failing checks pass. Changes nothing in the org. */
export async function fixCommand(flags: FixFlags, io: CommandIo): Promise<number> {
  const { output } = flags;
  if (output === undefined || output === "")
    throw new UsageError(["--output DIR is missing: expected a directory for main.tf, variables.tf and plan.md"]);
  await requireNewFolder(output);
  const judging = await readJudging(flags, io);
  const { checks, parameters } = judging;
  const wanted = { checks, parameters, isNamed: flags.check !== undefined };
  const judged = await findVerdicts(flags, wanted, { io, progress: newProgress(flags, io) });
  if (typeof judged === "number") return judged;
  const { document } = judged;
  const orgUrl = document.scan.org_url;
  const { results, warnings } = applyDecisions(judged.results, await judging.decisionsFor(orgUrl), io.now().getTime());
  for (const warning of warnings) io.terminal.write(`${printable(warning)}\n`);
  const { artifacts } = document;
  const plan = planFixes(results, artifacts, parameters);
  await requireWritable({ directory: output, fileNames: fixFileNames });
  const origin = { orgUrl, collectedAt: document.evaluated_at };
  const files = {
    ...renderFiles(plan, origin),
    "plan.md": renderPlanPage({ plan, results, origin, artifacts }),
  };
  const names = Object.keys(files);
  if (names.some((name) => name.startsWith("pages/"))) await makeDirectory(join(output, "pages"));
  let areWritten = true;
  for (const [name, text] of Object.entries(files)) {
    const path = join(output, name);
    const problem = await writeWhole({ option: "--output", path }, text);
    areWritten &&= problem === null;
    if (problem !== null || flags.quiet !== true) io.terminal.write(`${problem ?? `Wrote ${path}`}\n`);
  }
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  io.stdout(
    `${countOf(plan.fixed.length, "failing finding")} ${plan.fixed.length === 1 ? "is" : "are"} in the plan: ${countOf(imported, "object")} imported, ${plan.resources.length - imported} new; ` +
      `${countOf(plan.byHand.length, "finding")} left to you, with steps in plan.md\n`,
  );
  return areWritten ? exitCodes.ok : exitCodes.usage;
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
