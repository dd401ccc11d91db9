import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { parseJsonObject } from "../../shared/json.ts";
import type { Report } from "../../shared/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readChecklist } from "../checklists/checklist.ts";
import { sha256 } from "../digest.ts";
import { maxReportBytes } from "../reports/read_report.ts";
import { maxArtifactsBytes, parseArtifacts, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { connect } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { IdpError } from "../okta/idp_error.ts";
import { evaluateTraced, runScan, toContext, type FinishedScan } from "../run_scan.ts";
import { keepRun, listRuns } from "../runs/kept_runs.ts";
import { oneOrganization, settingsOfSaved } from "../settings/organizations.ts";
import {
  readConnectedSettings,
  readSettings,
  type Flags,
  type Given,
  type Settings,
} from "../settings/read_settings.ts";
import type { CommandName } from "../settings/setting.ts";
import { toReport, writeIdpError } from "./finish_scan.ts";
import { newProgress, type Progress } from "./progress.ts";
import { readReportTarget } from "./report_target.ts";
import { decisionsOf, openDecisions, readRules, type Rules } from "./rules.ts";
import { createTrace } from "./trace_lines.ts";

/** Evidence that was saved, or was collected just now. */
export interface SavedEvidence {
  readonly document: ArtifactsDocument;
  readonly text: string;
}

/** Evidence that a command evaluates, with its settings. */
export interface Source {
  readonly settings: Settings;
  readonly evidence: SavedEvidence;
  /** The scan's id; null: its evidence does not say. */
  readonly id: string | null;
}

interface SourceOptions {
  /** The evidence that an argument names. */
  readonly file?: string | undefined;
  /** A check that the evidence must be about. */
  readonly check?: string;
}

/**
 * Evidence of a file, else of the newest run of the organization; with `--fresh`, or where there is no run, of a scan that is made and
 * kept now. Gives the exit code where the org lets nobody in. Throws `UsageError` where a setting or a file cannot be used.
 */
export async function openSource(
  command: CommandName,
  flags: Flags,
  io: CommandIo,
  { file: named, check }: SourceOptions = {},
): Promise<Source | number> {
  const file = named ?? flags["fromArtifacts"];
  if (typeof file === "string") return { ...(await openEvidence(command, flags, { file, io })), id: null };
  const given = await oneOrganization(command, flags, io);
  const settings = readSettings(given);
  const [newest] = settings.fresh ? [] : await listRuns(settings.orgUrl);
  if (newest !== undefined) {
    const evidence = await readEvidence({ option: "the run", file: newest.evidence });
    const isAbout = check === undefined || evidence.document.checks.includes(check);
    const { org_url: orgUrl } = evidence.document.scan;
    const own = settings.orgUrl === null ? await settingsOfSaved(command, flags, { io, orgUrl }) : settings;
    if (isAbout) return { settings: own, evidence, id: await idOf(newest.report) };
  }
  return scanNow(given, io);
}

/** Scans the organization, and keeps the run. */
async function scanNow(given: Given, io: CommandIo): Promise<Source | number> {
  const settings = readConnectedSettings(given);
  const { orgUrl } = settings.connection;
  // A run is kept whole, so that every other command can use it.
  const rules = await readRules({ ...settings, check: null, exclude: [], severity: [] }, orgUrl, io);
  const { revision, names, orgPolicy } = rules;
  const files = await openDecisions(settings, { names, orgUrl }, io);
  const progress = newProgress(settings, io);
  progress.started(rules.checks.map((check) => check.name));
  const scan = await scanOrg(settings.connection, rules, { settings, io, progress });
  progress.ended();
  if (typeof scan === "number") return scan;
  if (scan.status === "cancelled") return exitCodes.interrupted;
  const decisions = await decisionsOf(settings, { files, orgUrl, names }, io);
  const text = JSON.stringify(scan.document);
  const facts = { revision, decisions, checklist: null, orgPolicy, evidence: sha256(text) };
  const report = toReport(scan, { ...facts, id: randomUUID(), tenantId: null }, io);
  await keep({ document: scan.document, report }, settings, io);
  return { settings, evidence: { document: scan.document, text }, id: report.scan.id };
}

/** Keeps a run as the settings say. That it cannot be kept fails nothing. */
export async function keep(
  run: { readonly document: ArtifactsDocument; readonly report: Report },
  { isKept, keep: count }: Settings,
  io: CommandIo,
): Promise<void> {
  const problem = isKept ? await keepRun(run, count) : null;
  if (problem !== null) io.terminal.write(`${problem}\n`);
}

export async function openEvidence(
  command: CommandName,
  flags: Flags,
  { file, io }: { readonly file: string; readonly io: CommandIo },
): Promise<{ readonly settings: Settings; readonly evidence: SavedEvidence }> {
  // Options that cannot be used are refused before the file is read.
  await settingsOfSaved(command, flags, { io, orgUrl: null });
  const evidence = await readEvidence({ option: "--from-artifacts", file });
  const settings = await settingsOfSaved(command, flags, { io, orgUrl: evidence.document.scan.org_url });
  return { settings, evidence };
}

async function readEvidence(source: NamedFile): Promise<SavedEvidence> {
  return readOptionFile({ ...source, maxBytes: maxArtifactsBytes }, (text) => {
    try {
      return { document: parseArtifacts(text), text };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const place = `Cannot use ${source.option} ${JSON.stringify(source.file)}`;
      throw new AppError(error.code, error.message.replace("Cannot read the evidence", place), { cause: error });
    }
  });
}

/** The id of a kept report. */
async function idOf(file: string): Promise<string> {
  const report = await readOptionFile({ option: "the run", file, maxBytes: maxReportBytes }, (text) =>
    v.safeParse(v.object({ scan: v.object({ id: v.string() }) }), parseJsonObject(text)),
  );
  if (report.success) return report.output.scan.id;
  throw new UsageError([`Cannot read the run ${JSON.stringify(file)}: it is no report`]);
}

/** The report on saved evidence by the settings and decisions of now, with what writes it. Throws `UsageError`. */
export async function reportOn({ settings, evidence, id }: Source, io: CommandIo) {
  const { org_url: orgUrl } = evidence.document.scan;
  const rules = await readRules(settings, orgUrl, io);
  const { revision, names, orgPolicy } = rules;
  const files = await openDecisions(settings, { names, orgUrl }, io);
  const checklist = await readChecklist(settings.checklist, revision);
  const target = await readReportTarget(settings, io);
  const scan: FinishedScan = { status: "completed", ...evaluateEvidence(evidence, rules, { settings, io }) };
  const decisions = await decisionsOf(settings, { files, orgUrl, names }, io);
  const judged = { revision, decisions, checklist, orgPolicy, evidence: sha256(evidence.text) };
  const facts = { ...judged, id: id ?? randomUUID(), tenantId: null };
  const signing = { orgPolicy, evidenceFile: undefined };
  return { scan, report: toReport(scan, facts, io), options: { revision, checklist, settings, target, signing } };
}

export type Verdicts = Pick<FinishedScan, "results" | "document">;

/** Without the names of checks, one whose evidence was not collected is left out. */
export function evaluateEvidence(
  { document }: SavedEvidence,
  { checks, isNamed, orgPolicy }: Rules,
  { settings, io }: { readonly settings: Settings; readonly io: CommandIo },
): Verdicts {
  const trace = createTrace(settings, (line) => io.terminal.write(`${line}\n`));
  const selected = isNamed ? checks : checks.filter(({ name }) => document.checks.includes(name));
  const { engine, org_url: orgUrl } = document.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt: document.evaluated_at, orgPolicy });
  return {
    results: selected.map((check) => evaluateTraced(check, document.artifacts, { context, trace })),
    document,
  };
}

/** One scan of the org; the exit code, after a message, where it lets nobody in. */
export async function scanOrg(
  connection: ConnectionSettings,
  { checks, orgPolicy }: Rules,
  { settings, io, progress }: { readonly settings: Settings; readonly io: CommandIo; readonly progress: Progress },
): Promise<FinishedScan | number> {
  const { orgUrl, clientId } = connection;
  try {
    return await runScan(
      { checks, orgPolicy, orgUrl, clientId, signal: io.interrupted },
      {
        connect: (options) => connect(connection, options),
        onResult: (result, counts) => progress.checkEvaluated(result, counts),
        now: io.now,
        trace: createTrace(settings, (line) => progress.message(line)),
      },
    );
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    writeIdpError(error, io);
    return exitCodes.unread;
  }
}
