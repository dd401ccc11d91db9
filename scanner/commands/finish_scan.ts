import { reportedOrgPolicy, type OrgPolicy } from "../org_policy/document.ts";
import { join } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { standardStream, writeWhole, type NamedFile } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { summarizeChecks } from "../../shared/rule_result.ts";
import type { Revision } from "../catalog/catalog.ts";
import type { Checklist } from "../checklists/checklist.ts";
import { withChecklistAnswers } from "../checklists/answered_rules.ts";
import { withCarried } from "../checklists/carry_answers.ts";
import { applyDecisions, type Decisions } from "../decisions/decisions.ts";
import { applyGate } from "../decisions/fail_on.ts";
import { toErrorReport, type IdpError } from "../okta/idp_error.ts";
import { summaryLine } from "../reports/statement.ts";
import { reportFileName, writeReports, type WrittenFiles } from "../reports/write_reports.ts";
import { signFiles } from "../signing/sign_files.ts";
import type { StatementFacts } from "../signing/statement.ts";
import { causesOf } from "../causes/causes.ts";
import { sha256 } from "../digest.ts";
import { type FinishedScan } from "../run_scan.ts";
import { checklistLines, nextLines, overdueLines, writtenLines } from "./closing_lines.ts";
import type { ReportTarget } from "./report_target.ts";
import type { Settings } from "../settings/read_settings.ts";

/** False when they could not be written, after a message. */
export async function saveArtifacts(source: NamedFile | null, scan: FinishedScan, io: CommandIo): Promise<boolean> {
  if (source === null) return true;
  if (source.file === standardStream) {
    io.stdout(`${JSON.stringify(scan.document)}\n`);
    return true;
  }
  const problem = await writeWhole(source, JSON.stringify(scan.document));
  if (problem !== null) io.terminal.write(`${problem}\n`);
  return problem === null;
}

/** Facts of a report that its scan does not have. */
export interface ReportFacts {
  readonly revision: Revision;
  readonly decisions: Decisions;
  readonly checklist: Checklist | null;
  readonly id: string;
  /** Null: the scan is not registered at a gateway. */
  readonly tenantId: string | null;
  /** The organization's own document; null: none. */
  readonly orgPolicy: OrgPolicy | null;
  /** SHA-256 of the evidence as a file, in hex. */
  readonly evidence: string;
}

interface FinishOptions extends Omit<WriteOptions, "isBrief"> {
  /** False: the evidence could not be written, which was said. */
  readonly areSaved?: boolean;
  /** The evidence that was evaluated offline. */
  readonly from?: string | null;
}

/** Facts that are signed along with the reports. */
export interface Signing extends Pick<StatementFacts, "orgPolicy"> {
  /** The evidence, where this run wrote it. */
  readonly evidenceFile: string | undefined;
}

/** A report, and what became of it. */
export interface ReportedScan {
  readonly report: Report;
  readonly files: readonly string[];
  /** Verdict of the gates, in one line. */
  readonly gateLine: string;
  readonly code: number;
}

/** A report with decisions and the answers of a checklist on it. What does not count is said. */
export function toReport(
  scan: FinishedScan,
  { revision, decisions, checklist, orgPolicy, evidence, id, tenantId }: ReportFacts,
  io: CommandIo,
): Report {
  const { results: decided, comparison, warnings } = applyDecisions(scan.results, decisions, io.now().getTime());
  const results = withCarried(withChecklistAnswers(decided, checklist), checklist?.carried ?? null);
  for (const warning of warnings) io.terminal.write(`${printable(warning)}\n`);
  return {
    schema: "scanstream.report/1",
    ...(orgPolicy !== null && { org_policy: reportedOrgPolicy(orgPolicy, scan.document.evaluated_at, sha256) }),
    benchmark: revision.benchmark.id,
    evidence_sha256: evidence,
    scan: { id, tenant_id: tenantId, ...scan.document.scan, status: scan.status },
    summary: summarizeChecks(results),
    checks: results,
    baseline: comparison,
    causes: causesOf(results, scan.document.artifacts, sha256),
  };
}

export interface WriteOptions {
  readonly revision: Revision;
  readonly checklist: Checklist | null;
  readonly settings: Settings;
  readonly target: ReportTarget;
  readonly signing: Signing;
  /** Only what fits one screen of a terminal. */
  readonly isBrief: boolean;
}

/** Writes a report in the formats of the settings, signs it, and says what it wrote. */
export async function writeReport(
  report: Report,
  { revision, checklist, settings, target, signing, isBrief }: WriteOptions,
  io: CommandIo,
): Promise<WrittenFiles> {
  const { formats, outputDir, signer } = target;
  const { status, poamPerFinding: isPlanPerFinding } = settings;
  const written = await writeReports(
    report,
    { formats, outputDir, stdout: io.stdout },
    {
      color: io.colorStdout,
      width: io.terminal.columns,
      toolVersion: io.toolVersion,
      ...(status === null ? {} : { states: status }),
      isPlanPerFinding,
      isBrief,
      revision,
      ...(checklist === null ? {} : { checklist }),
    },
  );
  const { evidenceFile, orgPolicy } = signing;
  const paths = evidenceFile === undefined ? written.files : [...written.files, evidenceFile];
  const { toolVersion } = io;
  // Without the document by which it was judged, the evidence would give other findings.
  const isComplete = report.org_policy === undefined || orgPolicy !== null;
  const evidence = isComplete ? (report.evidence_sha256 ?? null) : null;
  const facts = { scan: report.scan, revision, report, evidence, toolVersion, orgPolicy };
  const signed = await signFiles(paths, facts, { signer, name: "scan" });
  const files = [...written.files, ...signed.files];
  const problems = [...written.problems, ...signed.problems];
  const lines = [
    ...(settings.quiet ? [] : writtenLines(files, outputDir)),
    ...problems,
    ...(checklist === null ? [] : checklistLines(report, checklist, revision)),
    ...overdueLines(report),
  ];
  for (const line of lines) io.terminal.write(`${printable(line)}\n`);
  return { files, problems };
}

/** Writes the reports and decides the exit code. */
export async function finishScan(
  scan: FinishedScan,
  report: Report,
  { areSaved = true, from = null, ...options }: FinishOptions,
  io: CommandIo,
): Promise<ReportedScan> {
  const { settings, target } = options;
  const { formats, outputDir } = target;
  const { quiet: isQuiet, verbose, status, allowUnread } = settings;
  // Whoever selects states, or asks for details, wants the list.
  const isBrief = !verbose && status === null;
  const { files, problems } = await writeReport(report, { ...options, isBrief }, io);
  const isSummaryShown = outputDir === null && formats.some((format) => !format.isMachine);
  const gate = applyGate(report, {
    failOn: settings.failOn.conditions,
    failOnText: settings.failOn.text,
    // Without an earlier run everything is new.
    onlyNew: settings.failOnNew && report.baseline !== null,
    allowUnread,
  });
  const areWritten = areSaved && problems.length === 0;
  const isUnread = gate.unread > 0 && !allowUnread;
  const code = exitCodeOf(scan, { isFailed: gate.isFailed, isUnread, areWritten });
  const exitLine =
    scan.status === "completed"
      ? gate.line(code, areWritten ? undefined : "a file could not be written")
      : interruptedExit(code, report.checks);
  // A run that fails or could not read everything says so, however quiet it is.
  const closing = [
    ...(isQuiet || isSummaryShown ? [] : [summaryLine(report)]),
    ...(isQuiet && code === exitCodes.ok && gate.unread === 0 ? [] : [exitLine]),
    ...(!isQuiet && isBrief && isSummaryShown && formats[0]?.name === "table" ? nextLines(report, from) : []),
  ];
  for (const line of closing) io.terminal.write(`${printable(line)}\n`);
  return { report, files, gateLine: exitLine, code };
}

/** Exit code of a scan. Rules that were not evaluated neither passed nor failed, so an interruption counts before the gates. */
function exitCodeOf(
  { status }: FinishedScan,
  run: { readonly isFailed: boolean; readonly isUnread: boolean; readonly areWritten: boolean },
): number {
  if (status === "cancelled") return exitCodes.interrupted;
  if (!run.areWritten) return exitCodes.usage;
  if (run.isFailed) return exitCodes.findings;
  return run.isUnread ? exitCodes.unread : exitCodes.ok;
}

function interruptedExit(code: number, results: readonly CheckResult[]): string {
  const done = results.filter(({ reason }) => reason !== "interrupted").length;
  return `Exit ${code}: the scan was interrupted after ${done} of ${countOf(results.length, "rule")} had been evaluated`;
}

/** Nothing was evaluated (exit code 3): a program gets the error as JSON in the report's place. */
export async function reportIdpError(error: IdpError, target: ReportTarget, io: CommandIo): Promise<number> {
  writeIdpError(error, io);
  const json = target.formats.find((format) => format.name === "json");
  if (json !== undefined) {
    const text = `${JSON.stringify(toErrorReport(error), null, 2)}\n`;
    // Replaces the report of an earlier run, which would be mistaken for this run's.
    if (target.outputDir === null) io.stdout(text);
    else {
      const file = join(target.outputDir.file, reportFileName(json));
      const problem = await writeWhole({ ...target.outputDir, file }, text);
      if (problem !== null) io.terminal.write(`${problem}\n`);
    }
  }
  return exitCodes.unread;
}

export function writeIdpError(error: IdpError, io: CommandIo): void {
  io.terminal.write(`${printable(error.message)}\n${printable(error.remedy)}\n`);
}
