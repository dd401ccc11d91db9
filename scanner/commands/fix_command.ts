import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CheckResult } from "../../shared/report.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable, writeWhole } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { selectChecks } from "../catalog/select_checks.ts";
import { readApprovedIssuers, readScannerConfig, type ScannerFlags } from "../config.ts";
import type { ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { marker, renderMain, renderVariables } from "../fix/fix_files.ts";
import { planFixes } from "../fix/plan_fixes.ts";
import { renderReadme } from "../fix/readme.ts";
import { connect } from "../idp/connection.ts";
import { IdpError } from "../idp/idp_error.ts";
import { runScan } from "../run_scan.ts";
import { evaluateSaved } from "./saved_evidence.ts";
import { writeIdpError } from "./finish_scan.ts";
import { newProgress } from "./progress.ts";
import { toSelection, warnOn, type SelectionFlags } from "./scan_options.ts";
import { createTrace } from "./trace_lines.ts";

export interface FixFlags extends ScannerFlags, SelectionFlags {
  readonly fromArtifacts?: string;
  readonly output?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const fileNames = ["main.tf", "variables.tf", "README.md"] as const;

/** `fix`: what would make failing checks pass, as Terraform and as steps for a person. Changes nothing in the org. */
export async function fixCommand(flags: FixFlags, io: CommandIo): Promise<number> {
  const { output } = flags;
  if (output === undefined || output === "")
    throw new UsageError(["--output DIR: is missing: main.tf, variables.tf and README.md are written there"]);
  const stale = await requireOwnFiles(output);
  const judged = await judge(flags, io);
  if (typeof judged === "number") return judged;
  const { results, document } = judged;
  await requireWritable({ directory: output, fileNames });
  const plan = planFixes(results, document.artifacts);
  const origin = { orgUrl: document.scan.org_url, collectedAt: document.evaluated_at };
  const hasPlan = plan.resources.length > 0;
  const hasStaleMain = !hasPlan && stale.includes("main.tf");
  const files: Partial<Record<(typeof fileNames)[number], string>> = {
    ...(hasPlan ? { "main.tf": renderMain(plan, origin) } : {}),
    ...(hasPlan || stale.includes("variables.tf") ? { "variables.tf": renderVariables(plan, origin) } : {}),
    "README.md": renderReadme({ plan, results, origin, hasStaleMain }),
  };
  let areWritten = true;
  for (const [name, text] of Object.entries(files)) {
    const path = join(output, name);
    const problem = await writeWhole({ option: "--output", path }, text);
    areWritten &&= problem === null;
    if (problem !== null || flags.quiet !== true) io.terminal.write(`${problem ?? `Wrote ${path}`}\n`);
  }
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  io.stdout(
    `${plan.fixed.length} failing findings are in the plan: ${imported} objects imported, ${plan.resources.length - imported} new; ` +
      `${plan.byHand.length} are left to the Admin Console (README.md)\n`,
  );
  if (hasStaleMain) {
    io.terminal.write(`${printable(join(output, "main.tf"))} is of an earlier plan and was left: nothing needs it\n`);
  }
  return areWritten ? exitCodes.ok : exitCodes.usage;
}

interface Judged {
  readonly results: readonly CheckResult[];
  readonly document: ArtifactsDocument;
}

/** From a file or from the org; the exit code where there is nothing to plan with. */
async function judge(flags: FixFlags, io: CommandIo): Promise<Judged | number> {
  const checks = selectChecks(toSelection(flags), { warn: warnOn(io) });
  if (flags.fromArtifacts !== undefined) {
    const trace = createTrace(flags, (line) => io.terminal.write(`${line}\n`));
    return evaluateSaved(flags.fromArtifacts, { selected: checks, isNamed: flags.check !== undefined, trace }, io);
  }
  const config = readScannerConfig(flags, io.env);
  const approvedIssuers = readApprovedIssuers(io.env);
  const { orgUrl, clientId } = config;
  const progress = newProgress(flags, io);
  progress.started(checks.map((check) => check.name));
  try {
    const scan = await runScan(
      { orgUrl, clientId, checks, approvedIssuers, signal: io.interrupted },
      {
        connect: (options) => connect(config, options),
        onResult: (result, counts) => progress.checkEvaluated(result, counts),
        now: io.now,
        trace: createTrace(flags, (line) => progress.message(line)),
      },
    );
    return scan.status === "cancelled" ? exitCodes.interrupted : scan;
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    writeIdpError(error, io);
    return exitCodes.notAuthenticated;
  } finally {
    progress.ended();
  }
}

/** The files of an earlier plan that are there. Throws `UsageError` for a file of that name that is no plan's. */
async function requireOwnFiles(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  const problems: string[] = [];
  for (const name of fileNames) {
    const path = join(directory, name);
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      if (hasCode(error, "ENOENT", "ENOTDIR")) return null;
      // What cannot be read is for the check of what can be written.
      return marker;
    });
    if (text === null) continue;
    found.push(name);
    if (!text.slice(0, 500).includes(marker)) {
      problems.push(
        `--output ${JSON.stringify(directory)}: ${name} is there and is no file of scanstream fix: expected another directory`,
      );
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return found;
}
