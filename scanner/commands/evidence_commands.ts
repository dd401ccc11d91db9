import { randomUUID } from "node:crypto";
import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable, standardStream } from "../../command_line/files.ts";
import { selectChecks } from "../catalog/select_checks.ts";
import { readChecklist } from "../checklists/checklist.ts";
import { readApprovedIssuers, readScannerConfig, type ScannerFlags } from "../config.ts";
import { readDecisions } from "../decisions/decisions.ts";
import { withGatewayDecisions } from "../decisions/gateway_decisions.ts";
import { readParameters } from "../decisions/parameters.ts";
import { signFiles } from "../signing/sign_files.ts";
import { sha256 } from "../digest.ts";
import type { FinishedScan } from "../run_scan.ts";
import { finishScan, saveArtifacts } from "./finish_scan.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import { scanOrg } from "./org_evidence.ts";
import { newProgress } from "./progress.ts";
import { evaluateSaved } from "./saved_evidence.ts";
import {
  rulesOf,
  parseReportOptions,
  readSigning,
  reportPlaces,
  toSelection,
  warnOn,
  type ReportFlags,
  type SelectionFlags,
} from "./scan_options.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { createTrace } from "./trace_lines.ts";

export interface CollectFlags extends ScannerFlags, SelectionFlags {
  readonly saveArtifacts?: string;
  readonly sign?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** `collect`: the evidence alone, judged later by `evaluate`. */
export async function collectCommand(flags: CollectFlags, io: CommandIo): Promise<number> {
  const file = flags.saveArtifacts;
  if (file === undefined)
    throw new UsageError(["--save-artifacts FILE is missing: expected a file for the evidence, or - for stdout"]);
  const revision = await readRevision(flags.benchmark);
  const known = revision.checks;
  const checks = selectChecks(toSelection(flags), { checks: known, warn: warnOn(io) });
  const parameters = await readParameters(flags.parameters, null, known);
  const signer = await readSigning(flags, io.env);
  const config = readScannerConfig(flags, io.env);
  if (file !== standardStream) await requireWritable({ file });
  const progress = newProgress(flags, io);
  const scan = await scanOrg(config, { checks, approvedIssuers: null, parameters }, { flags, io, progress });
  if (typeof scan === "number") return scan;
  let areSaved = await saveArtifacts(file, scan, io);
  if (areSaved && signer !== null) {
    const evidence = sha256(JSON.stringify(scan.document));
    const facts = {
      scan: scan.document.scan,
      revision,
      report: null,
      evidence,
      toolVersion: io.toolVersion,
      parameters,
      approvedIssuers: null,
    };
    const { problems } = await signFiles([file], facts, { signer, name: null });
    for (const problem of problems) io.terminal.write(`${problem}\n`);
    areSaved = problems.length === 0;
  }
  if (areSaved && flags.quiet !== true)
    progress.message(
      `Saved evidence for ${countOf(checks.length, "check")} to ${file === standardStream ? "stdout" : file}`,
    );
  if (scan.status === "cancelled") return exitCodes.interrupted;
  return areSaved ? exitCodes.ok : exitCodes.usage;
}

export interface EvaluateFlags extends SelectionFlags, ReportFlags {
  readonly fromArtifacts?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** `evaluate`: verdicts from saved artifacts, without the provider. */
export async function evaluateCommand(flags: EvaluateFlags, io: CommandIo): Promise<number> {
  const file = flags.fromArtifacts;
  if (file === undefined)
    throw new UsageError([
      "--from-artifacts FILE is missing: expected evidence that scan or collect saved, or - for stdin",
    ]);
  const options = parseReportOptions(flags);
  const revision = await readRevision(flags.benchmark);
  const known = revision.checks;
  const selected = selectChecks(toSelection(flags), { checks: known, warn: warnOn(io) });
  const parameters = await readParameters(flags.parameters, readApprovedIssuers(io.env), known);
  const files = await readDecisions(options, { rules: rulesOf(known), warn: warnOn(io) });
  const checklist = await readChecklist(options.checklistFile, revision);
  const signer = await readSigning(flags, io.env);
  await requireWritable(reportPlaces(options));
  const { results, document, text } = await evaluateSaved(
    file,
    {
      selected,
      isNamed: flags.check !== undefined,
      parameters,
      trace: createTrace(flags, (line) => io.terminal.write(`${line}\n`)),
    },
    io,
  );
  const scan: FinishedScan = { status: "completed", results, document };
  const { org_url: orgUrl } = document.scan;
  const wanted = { isAsked: flags.decisionsFromGateway === true, orgUrl, rules: rulesOf(known) };
  const decisions = await withGatewayDecisions(files, wanted, io);
  const approvedIssuers = readApprovedIssuers(io.env);
  const signing =
    signer === null ? null : { signer, parameters, approvedIssuers, evidence: sha256(text), evidenceFile: undefined };
  const finishOptions = { revision, decisions, checklist, options, id: randomUUID(), tenantId: null, flags, signing };
  const { code, report } = await finishScan(scan, finishOptions, io);
  await writeGitHubFeedback([{ name: null, report }], io);
  return code;
}
