import { join } from "node:path";
import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { makeDirectory, requireWritable, writeWhole } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import type { ScannerFlags } from "../config.ts";
import { applyDecisions } from "../decisions/decisions.ts";
import { renderFiles } from "../fix/fix_files.ts";
import { fixFileNames, readFixFolder } from "../fix/fix_folder.ts";
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

/** `fix`: what would make failing checks pass, as Terraform and as steps for a person. Changes nothing in the org. */
export async function fixCommand(flags: FixFlags, io: CommandIo): Promise<number> {
  const { output } = flags;
  if (output === undefined || output === "")
    throw new UsageError(["--output DIR is missing: expected a directory for main.tf, variables.tf and plan.md"]);
  const folder = await readFixFolder(output);
  const judging = await readJudging(flags, io);
  const { checks, parameters } = judging;
  const wanted = { checks, parameters, isNamed: flags.check !== undefined };
  const judged = await findVerdicts(flags, wanted, { io, progress: newProgress(flags, io) });
  if (typeof judged === "number") return judged;
  const { document } = judged;
  const orgUrl = document.scan.org_url;
  if (folder.orgUrl !== null && folder.orgUrl !== orgUrl) {
    throw new UsageError([
      `--output ${JSON.stringify(output)}: its main.tf is for ${folder.orgUrl}, and the evidence is from ${orgUrl}: expected another directory`,
    ]);
  }
  const { results, warnings } = applyDecisions(judged.results, await judging.decisionsFor(orgUrl), io.now().getTime());
  for (const warning of warnings) io.terminal.write(`${printable(warning)}\n`);
  const plan = planFixes(results, document.artifacts, parameters);
  await requireWritable({ directory: output, fileNames: fixFileNames });
  const origin = { orgUrl, collectedAt: document.evaluated_at };
  const files = {
    ...renderFiles(plan, origin, folder),
    "plan.md": renderPlanPage({ plan, results, origin, folder }),
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
      `${plan.byHand.length} need steps in the Admin Console (plan.md)\n`,
  );
  return areWritten ? exitCodes.ok : exitCodes.usage;
}
