import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable, standardStream } from "../../command_line/files.ts";
import { signFiles } from "../signing/sign_files.ts";
import { sha256 } from "../digest.ts";
import { settingsOfOne } from "../settings/organizations.ts";
import type { Flags } from "../settings/read_settings.ts";
import { finishScan, saveArtifacts } from "./finish_scan.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import { newProgress } from "./progress.ts";
import { readSigning } from "./report_target.ts";
import { readRules } from "./rules.ts";
import { openEvidence, reportOn, scanOrg } from "./verdicts.ts";

/** `collect`: the evidence alone, judged later by `evaluate`. */
export async function collectCommand(flags: Flags, io: CommandIo): Promise<number> {
  const settings = await settingsOfOne("collect", flags, io);
  const { saveArtifacts: target } = settings;
  if (target === null)
    throw new UsageError(["--save-artifacts FILE is missing: expected a file for the evidence, or - for stdout"]);
  const rules = await readRules(settings, settings.connection.orgUrl, io);
  const { checks, revision, orgPolicy } = rules;
  const signer = await readSigning(settings);
  if (target.file !== standardStream) await requireWritable({ file: target });
  const progress = newProgress(settings, io);
  const scan = await scanOrg(settings.connection, rules, { settings, io, progress });
  if (typeof scan === "number") return scan;
  let areSaved = await saveArtifacts(target, scan, io);
  if (areSaved && signer !== null) {
    const evidence = sha256(JSON.stringify(scan.document));
    const facts = {
      scan: scan.document.scan,
      revision,
      report: null,
      evidence,
      toolVersion: io.toolVersion,
      orgPolicy,
    };
    const { problems } = await signFiles([target.file], facts, { signer, name: null });
    for (const problem of problems) io.terminal.write(`${problem}\n`);
    areSaved = problems.length === 0;
  }
  if (areSaved && !settings.quiet)
    progress.message(
      `Saved evidence for ${countOf(checks.length, "check")} to ${target.file === standardStream ? "stdout" : target.file}`,
    );
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
  const source = await openEvidence("evaluate", flags, { file, io });
  const { scan, report, options } = await reportOn({ ...source, id: null }, io);
  const { code } = await finishScan(scan, report, { ...options, from: file }, io);
  await writeGitHubFeedback([{ name: null, report }], io);
  return code;
}
