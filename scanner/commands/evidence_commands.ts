import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable, standardStream } from "../../command_line/files.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { signFiles } from "../signing/sign_files.ts";
import { sha256 } from "../digest.ts";
import { settingsOfOne } from "../settings/organizations.ts";
import type { Flags } from "../settings/read_settings.ts";
import { endOf, writeGitHubFeedback } from "./github_actions.ts";
import { readCriteria } from "./criteria.ts";
import { newProgress } from "./progress.ts";
import { finishScan, readSigning, saveArtifacts } from "./report_output.ts";
import { openSource, reportOn, scanOrg } from "./sources.ts";

/** `collect`: the evidence alone, which `evaluate` reads later. */
export async function collectCommand(flags: Flags, io: CommandIo): Promise<number> {
  const settings = await settingsOfOne("collect", flags, io);
  const { saveArtifacts: target } = settings;
  if (target === null)
    throw new UsageError(["--save-artifacts FILE is missing: expected a file for the evidence, or - for stdout"]);
  const criteria = await readCriteria(settings, settings.connection.orgUrl, io);
  const { checks, revision, orgPolicy } = criteria;
  const signer = await readSigning(settings);
  if (target.file !== standardStream) await requireWritable({ file: target });
  const progress = newProgress(settings, io);
  const scan = await scanOrg(criteria, progress);
  let areSaved = await saveArtifacts(scan, criteria);
  if (areSaved && signer !== null) {
    const { document } = scan;
    const evidence = sha256(JSON.stringify(document));
    const facts = { scan: document.scan, revision, evidence, toolVersion: io.toolVersion, orgPolicy };
    const { files, problems } = await signFiles([target.file], facts, { signer, name: null });
    writeLines(io, ...(settings.quiet ? [] : files.map((path) => `Wrote ${path}`)), ...problems);
    areSaved = problems.length === 0;
  }
  const place = target.file === standardStream ? "stdout" : target.file;
  if (areSaved && !settings.quiet)
    progress.message(`Saved evidence for ${countOf(checks.length, "check")} to ${place}`);
  if (scan.status === "cancelled") return exitCodes.interrupted;
  return areSaved ? exitCodes.ok : exitCodes.usage;
}

/** `evaluate`: verdicts from saved evidence, without the provider. */
export async function evaluateCommand(flags: Flags, io: CommandIo): Promise<number> {
  const file = flags["fromArtifacts"];
  if (typeof file !== "string")
    throw new UsageError([
      "--from-artifacts FILE is missing: expected evidence that scan or collect saved, or - for stdin",
    ]);
  const { report, run } = await reportOn(await openSource("evaluate", flags, io), io);
  const { outcome, gateLine } = await finishScan(report, run, { from: file });
  await writeGitHubFeedback([{ name: null, report, revision: run.revision }], io, endOf(outcome, gateLine));
  return exitCodes[outcome];
}
