import { UsageError } from "../../shared/usage_error.ts";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { countStatuses, type Report } from "../../shared/report.ts";
import { benchmark, type CatalogCheck } from "../catalog/catalog.ts";
import { selectChecks } from "../catalog/select_checks.ts";
import { readChecklist, type Checklist } from "../checklists/checklist.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { readApprovedIssuers, readScannerConfig, type ScannerFlags } from "../config.ts";
import { readChecks } from "../decisions/own_rules/company_rules.ts";
import { addGatewayDecisions } from "../decisions/gateway_decisions.ts";
import { applyDecisions, readDecisions, type Decisions } from "../decisions/decisions.ts";
import { readParameters } from "../decisions/own_rules/parameters.ts";
import { applyGate } from "../decisions/gates/gate.ts";
import { allRules } from "../reports/benchmark_rules.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable, writeWhole } from "../../command_line/files.ts";
import { checklistLines, overdueLines, writtenLines } from "./closing_lines.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import { connect } from "../idp/connection.ts";
import { IdpError, toErrorReport } from "../idp/idp_error.ts";
import type { RegisteredScan } from "../streaming/gateway_client.ts";
import { startPublishing } from "../streaming/start_publishing.ts";
import { createProgress, createQuietProgress, type Progress } from "./progress.ts";
import type { ScanPublisher } from "../streaming/scan_publisher.ts";
import { runScan, type FinishedScan } from "../run_scan.ts";
import { evaluateSaved } from "./saved_evidence.ts";
import { parseReportOptions, splitList, type ReportFlags, type ReportOptions } from "./scan_options.ts";
import { readStreamConfig } from "../streaming/stream_config.ts";
import { printable } from "../../command_line/terminal.ts";
import { reportFileName, writeReports } from "../reports/write_reports.ts";

export interface SelectionFlags {
  readonly check?: string;
  readonly exclude?: string;
  readonly severity?: string;
  /** Rules of the organization's own, beside those of the STIG. */
  readonly checks?: string;
  /** The organization's values in place of the STIG's. */
  readonly parameters?: string;
}

export interface ScanFlags extends ScannerFlags, SelectionFlags, ReportFlags {
  readonly saveArtifacts?: string;
  readonly quiet?: boolean;
  readonly stream?: boolean;
}

/** `scan`: everything that can be refused is refused before the first request. Resolves with the exit code. */
export async function scanCommand(flags: ScanFlags, io: CommandIo): Promise<number> {
  const options = parseReportOptions(flags);
  const known = await readChecks(flags.checks);
  const checks = selectChecks(toSelection(flags), known);
  const config = readScannerConfig(flags, io.env);
  const approvedIssuers = readApprovedIssuers(io.env);
  const parameters = await readParameters(flags.parameters, approvedIssuers);
  const streamConfig = flags.stream === false ? null : readStreamConfig(io.env);
  const files = await readDecisions(options, namesOf(known));
  const checklist = await readChecklist(options.checklistFile);
  await requireWritable({ ...reportPlaces(options), file: flags.saveArtifacts });
  const decisions = await withGatewayDecisions(files, { flags, orgUrl: config.orgUrl, known }, io);

  const progress = newProgress(flags, io);
  // A message may quote an answer of the gateway or the broker.
  const warn = (text: string) => progress.message(printable(text));
  const { orgUrl, clientId } = config;
  const stream =
    streamConfig === null
      ? null
      : startPublishing(
          streamConfig,
          { org_url: orgUrl, client_id: clientId, checks_total: checks.length },
          { warn, info: flags.quiet === true ? () => {} : warn },
        );
  const signal = stream === null ? io.interrupted : AbortSignal.any([io.interrupted, stream.cancelRequested]);
  progress.started(checks.map((check) => check.name));

  let scan: FinishedScan;
  try {
    scan = await runScan(
      { orgUrl, clientId, checks, approvedIssuers, parameters, signal },
      {
        connect: (connectOptions) => connect(config, connectOptions),
        onResult(result, counts) {
          progress.checkEvaluated(result, counts);
          stream?.checkEvaluated(result, counts);
        },
        now: io.now,
      },
    );
  } catch (error) {
    progress.ended();
    await endFailed(stream, error);
    if (error instanceof IdpError) return reportIdpError(error, options, io);
    throw error;
  }
  progress.ended();
  let areSaved: boolean;
  try {
    // Evidence first: it is on disk before the wait for the gateway.
    areSaved = await saveArtifacts(flags.saveArtifacts, scan, io);
  } finally {
    await stream?.end(scan.status, scan.results);
  }
  const registered = stream?.registered() ?? null;
  const code = await finish(scan, { decisions, checklist, options, registered, flags }, io);
  if (scan.status === "cancelled") return exitCodes.interrupted;
  return areSaved ? code : exitCodes.usage;
}

export interface CollectFlags extends ScannerFlags, SelectionFlags {
  readonly saveArtifacts?: string;
  readonly quiet?: boolean;
}

/** `collect`: the evidence alone, judged later by `evaluate`. */
export async function collectCommand(flags: CollectFlags, io: CommandIo): Promise<number> {
  const file = flags.saveArtifacts;
  if (file === undefined) throw new UsageError(["--save-artifacts FILE: is missing: collect keeps the evidence there"]);
  const checks = selectChecks(toSelection(flags), await readChecks(flags.checks));
  const parameters = await readParameters(flags.parameters, null);
  const config = readScannerConfig(flags, io.env);
  await requireWritable({ file });
  const progress = newProgress(flags, io);
  try {
    const { orgUrl, clientId } = config;
    const scan = await runScan(
      { orgUrl, clientId, checks, approvedIssuers: null, parameters, signal: io.interrupted },
      { connect: (connectOptions) => connect(config, connectOptions), onResult: () => {}, now: io.now },
    );
    const areSaved = await saveArtifacts(file, scan, io);
    if (areSaved && flags.quiet !== true) progress.message(`Artifacts of ${checks.length} checks are in ${file}`);
    if (scan.status === "cancelled") return exitCodes.interrupted;
    return areSaved ? exitCodes.ok : exitCodes.usage;
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    writeIdpError(error, io);
    return exitCodes.notAuthenticated;
  }
}

export interface EvaluateFlags extends SelectionFlags, ReportFlags {
  readonly fromArtifacts?: string;
}

/** `evaluate`: verdicts from saved artifacts, without a network. */
export async function evaluateCommand(flags: EvaluateFlags, io: CommandIo): Promise<number> {
  const file = flags.fromArtifacts;
  if (file === undefined)
    throw new UsageError(["--from-artifacts FILE: is missing: a file of scan or collect --save-artifacts"]);
  const options = parseReportOptions(flags);
  const known = await readChecks(flags.checks);
  const selected = selectChecks(toSelection(flags), known);
  const parameters = await readParameters(flags.parameters, readApprovedIssuers(io.env));
  const files = await readDecisions(options, namesOf(known));
  const checklist = await readChecklist(options.checklistFile);
  await requireWritable(reportPlaces(options));
  const { results, document } = await evaluateSaved(
    file,
    { selected, isNamed: flags.check !== undefined, parameters },
    io,
  );
  const scan: FinishedScan = { status: "completed", results, document };
  const decisions = await withGatewayDecisions(files, { flags, orgUrl: document.scan.org_url, known }, io);
  return finish(scan, { decisions, checklist, options, registered: null, flags: {} }, io);
}

interface GatewayDecisionsOptions {
  readonly flags: Pick<ReportFlags, "decisionsFromGateway">;
  readonly orgUrl: string;
  readonly known: readonly CatalogCheck[];
}

/** Those of the files, and with `--decisions-from-gateway` those that the tenant keeps there. */
async function withGatewayDecisions(
  files: Decisions,
  { flags, orgUrl, known }: GatewayDecisionsOptions,
  io: CommandIo,
): Promise<Decisions> {
  if (flags.decisionsFromGateway !== true) return files;
  const { decisions, warnings } = await addGatewayDecisions(files, {
    access: requireGatewayAccess(io.env, []),
    orgUrl,
    checkNames: namesOf(known),
    nowMs: io.now().getTime(),
    signal: io.interrupted,
  });
  for (const warning of warnings) io.terminal.write(`${printable(warning)}\n`);
  return decisions;
}

function namesOf(checks: readonly CatalogCheck[]): ReadonlySet<string> {
  return new Set(checks.map((check) => check.name));
}

export function toSelection(flags: SelectionFlags) {
  const { check = "", exclude = "", severity = "" } = flags;
  return { check: splitList(check), exclude: splitList(exclude), severity: splitList(severity) };
}

export function newProgress(flags: { readonly quiet?: boolean }, io: CommandIo): Progress {
  return flags.quiet === true
    ? createQuietProgress(io.terminal)
    : createProgress(io.terminal, { now: () => performance.now() });
}

function reportPlaces({ outputDir, formats }: ReportOptions) {
  return { directory: outputDir, fileNames: formats.map(reportFileName) };
}

/** False when they could not be written, after a message. */
async function saveArtifacts(path: string | undefined, scan: FinishedScan, io: CommandIo): Promise<boolean> {
  if (path === undefined) return true;
  const problem = await writeWhole({ option: "--save-artifacts", path }, JSON.stringify(scan.document));
  if (problem !== null) io.terminal.write(`${problem}\n`);
  return problem === null;
}

interface FinishOptions {
  readonly decisions: Decisions;
  readonly checklist: Checklist | null;
  readonly options: ReportOptions;
  readonly registered: RegisteredScan | null;
  readonly flags: { readonly quiet?: boolean };
}

/** Applies decisions, writes the reports and returns the exit code. */
async function finish(scan: FinishedScan, finishOptions: FinishOptions, io: CommandIo): Promise<number> {
  const { decisions, checklist, options, registered, flags } = finishOptions;
  const { results, comparison, warnings } = applyDecisions(scan.results, decisions, io.now().getTime());
  for (const warning of warnings) io.terminal.write(`${printable(warning)}\n`);
  const report: Report = {
    schema: "scanstream.report/1",
    benchmark: benchmark.id,
    scan: {
      id: registered?.id ?? randomUUID(),
      tenant_id: registered?.tenant_id ?? null,
      ...scan.document.scan,
      status: scan.status,
    },
    summary: countStatuses(results),
    checks: results,
    baseline: comparison,
  };
  const { formats, outputDir } = options;
  const { files, problems } = await writeReports(
    report,
    { formats, outputDir, stdout: io.stdout },
    {
      color: io.colorStdout,
      width: io.terminal.columns,
      toolVersion: io.toolVersion,
      ...(checklist === null ? {} : { checklist }),
    },
  );
  const lines = [
    ...(flags.quiet === true ? [] : writtenLines(files, outputDir)),
    ...problems,
    ...(checklist === null ? [] : checklistLines(report, checklist)),
    ...overdueLines(report),
  ];
  for (const line of lines) io.terminal.write(`${printable(line)}\n`);
  await writeGitHubFeedback(report, io);
  const gate = applyGate(report, { ...options, thresholds: decisions.thresholds }, allRules(report));
  // What was not evaluated neither passed nor failed.
  if (flags.quiet !== true && scan.status === "completed") io.terminal.write(`${printable(gate.line)}\n`);
  if (problems.length > 0) return exitCodes.usage;
  return gate.isFailed ? exitCodes.findings : exitCodes.ok;
}

/** Nothing was evaluated (exit code 3): a program gets the error as JSON in the report's place. */
async function reportIdpError(error: IdpError, options: ReportOptions, io: CommandIo): Promise<number> {
  writeIdpError(error, io);
  const json = options.formats.find((format) => format.name === "json");
  if (json !== undefined) {
    const text = `${JSON.stringify(toErrorReport(error), null, 2)}\n`;
    // Replaces the report of an earlier run, which would be mistaken for this run's.
    if (options.outputDir === null) io.stdout(text);
    else {
      const path = join(options.outputDir, reportFileName(json));
      const problem = await writeWhole({ option: "--output", path }, text);
      if (problem !== null) io.terminal.write(`${problem}\n`);
    }
  }
  return exitCodes.notAuthenticated;
}

export function writeIdpError(error: IdpError, io: CommandIo): void {
  io.terminal.write(`${printable(error.message)}\n${printable(error.remedy)}\n`);
}

async function endFailed(stream: ScanPublisher | null, error: unknown): Promise<void> {
  if (stream === null) return;
  if (error instanceof IdpError) stream.error(error.code, error.message);
  else stream.error("internal_error", "The scanner failed");
  await stream.end("failed", []);
}
