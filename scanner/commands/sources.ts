import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { CommandIo } from "../../command_line/command_io.ts";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { parseJsonObject } from "../../shared/json.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { ContentError, UsageError } from "../../shared/usage_error.ts";
import { builtIn } from "../catalog/catalog.ts";
import { applyDecisions } from "../decisions/apply_decisions.ts";
import { maxReportBytes, parseReport } from "../reports/read_report.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { maxArtifactsBytes, parseArtifacts, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { connect } from "../okta/connection.ts";
import { evaluateTraced, runScan, toContext, type FinishedScan } from "../run_scan.ts";
import { keepRun, listRuns, runIn } from "../runs/kept_runs.ts";
import { oneOrganization, settingsOfSaved } from "../settings/organizations.ts";
import {
  readConnectedSettings,
  readSettings,
  type ConnectedSettings,
  type Flags,
  type Settings,
} from "../settings/read_settings.ts";
import type { CommandName } from "../settings/setting.ts";
import type { ScanPublisher } from "../streaming/scan_publisher.ts";
import { readCriteria, type Criteria, type Rules } from "./criteria.ts";
import { createTrace, newProgress, type Progress } from "./progress.ts";
import { readReportTarget, toReport } from "./report_output.ts";

/** Evidence that a command evaluates, with its settings. */
export interface Source {
  readonly settings: Settings;
  readonly document: ArtifactsDocument;
  /** The document as it is in its file. */
  readonly text: string;
  /** The scan's id; null: its evidence does not say. */
  readonly id: string | null;
}

/**
 * Evidence of a file, else of the newest run of the organization; with `--fresh`, or where there is no run, of a scan that is made and
 * kept now. Throws `UsageError` where a setting or a file cannot be used, `IdpError` where the org lets nobody in.
 */
export async function openSource(command: CommandName, flags: Flags, io: CommandIo): Promise<Source> {
  const named = flags["fromArtifacts"];
  if (typeof named === "string") {
    refuseFresh(flags, "--from-artifacts names evidence");
    const source = { option: "--from-artifacts", file: named };
    return sourceOf(await readEvidence(source), { command, flags, io });
  }
  const given = await oneOrganization(command, flags, io);
  const settings = readSettings(given);
  const [newest] = settings.fresh ? [] : await listRuns(settings.orgUrl);
  if (newest === undefined) return scanNow(readConnectedSettings(given), io);
  return sourceOf(await readRun(newest), { command, flags, io });
}

/** Throws `UsageError` where `--fresh` asks for a scan although something else to use is named. */
export function refuseFresh({ fresh }: Flags, named: string): void {
  if (fresh === true) throw new UsageError([`--fresh scans the organization, and ${named}: expected one of them`]);
}

const own = builtIn.benchmark.id;
const keptReport = v.object({ benchmark: v.optional(v.string()), scan: v.object({ id: v.string() }) });

/** Evidence of a kept run, and what its report says of it. */
async function readRun({ evidence, report }: ReturnType<typeof runIn>): Promise<Evidence> {
  const file = { option: "the run", file: report, maxBytes: maxReportBytes };
  // Evidence alone has no id of a scan, and is judged as it is now.
  const stored = existsSync(report) ? await readOptionFile(file, parseJsonObject) : null;
  const { benchmark = own, scan = { id: null } } = v.is(keptReport, stored) ? stored : {};
  return { ...(await readEvidence({ option: "the run", file: evidence })), id: scan.id, benchmark };
}

/** Says where a kept run was judged by another revision than it is judged by now, unless a person named that one. */
export function noteRevision(benchmark: string | undefined, settings: Settings, io: CommandIo): void {
  if (settings.benchmark !== null || benchmark === undefined || benchmark === own) return;
  writeLines(io, `The run was judged by ${benchmark}, and here it is by ${own}: name its revision with --benchmark`);
}

/** Scans the organization, and keeps the run: whole, so that every other command can use it. */
async function scanNow(settings: ConnectedSettings, io: CommandIo): Promise<Source> {
  const all = { ...settings, check: null, exclude: [], severity: [] };
  const criteria = await readCriteria(all, settings.connection, io);
  const scan = await scanOrg(criteria, newProgress(settings, io));
  if (scan.status === "cancelled") io.interrupted.throwIfAborted();
  const text = JSON.stringify(scan.document);
  const report = toReport(scan, criteria, { text });
  await keepRun({ document: scan.document, report }, criteria);
  return { settings, document: scan.document, text, id: report.scan.id };
}

/** `benchmark`: the revision by which a kept run was judged. */
type Evidence = Omit<Source, "settings"> & { readonly benchmark?: string | undefined };

/** Evidence of a file, with the settings of its organization. */
export async function sourceOf(
  { benchmark, ...evidence }: Evidence,
  { command, flags, io }: { readonly command: CommandName; readonly flags: Flags; readonly io: CommandIo },
): Promise<Source> {
  const settings = await settingsOfSaved(command, flags, { io, orgUrl: evidence.document.scan.org_url });
  // A draft describes the org, and no revision judges it.
  if (command !== "org-policy") noteRevision(benchmark, settings, io);
  return { settings, ...evidence };
}

function readEvidence(source: NamedFile): Promise<Evidence> {
  return readOptionFile({ ...source, maxBytes: maxArtifactsBytes }, parseEvidence);
}

function parseEvidence(text: string): Evidence {
  return { document: parseArtifacts(text), text, id: null };
}

/** Reads the run in a folder, or the report that `--output` wrote there, else a report or evidence. Throws `UsageError` naming the file and what is wrong. */
export async function readNamed(named: string, option: string): Promise<Report | Evidence> {
  const written = join(named, "scan.json");
  const file = existsSync(written) ? written : named;
  const entry = await stat(file).catch(() => null);
  if (entry?.isDirectory() === true) return readRun(runIn(file));
  return readOptionFile({ option, file, maxBytes: maxReportBytes }, (text) => {
    // Parsed once, because a file may have 256 MiB.
    const schema = /"schema"\s*:\s*"([a-z._]{1,60}\/\d+(?:\.\d+)?)"/.exec(text)?.[1];
    if (schema === "scanstream.report/1") return parseReport(text);
    if (schema?.startsWith("scanstream.artifacts/")) return parseEvidence(text);
    // A file that is broken JSON is refused for that.
    if (schema === undefined) parseJsonText(text);
    const found = schema === undefined ? "it has no schema" : `it has the schema "${schema}"`;
    throw new ContentError([`${found}: expected a report (--format json) or evidence (--save-artifacts)`]);
  });
}

/** Evaluates evidence offline. Unless checks are named, one whose evidence was not collected is left out; a rule without a check needs none. */
export function evaluateSource(
  { document, settings }: Source,
  { checks, isNamed, orgPolicy }: Rules,
  io: CommandIo,
): FinishedScan {
  const trace = createTrace(settings, (line) => writeLines(io, line));
  const selected = checks.filter(
    ({ name, unjudged }) => isNamed || document.checks.includes(name) || unjudged?.reason === "not_automated",
  );
  const { engine, org_url: orgUrl } = document.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt: document.evaluated_at, orgPolicy });
  const results = selected.map((check) => evaluateTraced(check, document.artifacts, { context, trace }));
  return { status: "completed", results, document };
}

/** The report on evidence by the settings and decisions of now, with what writes it. Throws `UsageError`. */
export async function reportOn(source: Source, io: CommandIo) {
  const { settings, document, text, id } = source;
  const { org_url: orgUrl, started_at: startedAt } = document.scan;
  const criteria = await readCriteria(settings, { orgUrl, startedAt }, io);
  const target = await readReportTarget(settings, io);
  const report = toReport(evaluateSource(source, criteria, io), criteria, { text, ...(id !== null && { id }) });
  return { report, run: { ...criteria, target } };
}

/** One scan of the org; `stream` receives each result. Throws `IdpError` where the org lets nobody in. */
export async function scanOrg(
  criteria: Criteria<ConnectedSettings>,
  progress: Progress,
  stream: ScanPublisher | null = null,
): Promise<FinishedScan> {
  const { settings, io, checks, orgPolicy } = criteria;
  const { connection } = settings;
  const { orgUrl, clientId } = connection;
  const signal = stream === null ? io.interrupted : AbortSignal.any([io.interrupted, stream.cancelRequested]);
  const results: CheckResult[] = [];
  progress.started(checks.map(({ name }) => name));
  try {
    return await runScan(
      { orgUrl, clientId, checks, orgPolicy, signal },
      {
        connect: (options) => connect(connection, options),
        onResult(result) {
          const reported = decided([result], criteria);
          results.push(...reported);
          const counts = { checks_done: results.length, checks_total: checks.length, ...countStates(results) };
          progress.checkEvaluated(result, counts);
          for (const one of reported) stream?.checkEvaluated(one, counts);
        },
        now: io.now,
        trace: createTrace(settings, (line) => progress.message(line)),
      },
    );
  } finally {
    progress.ended();
  }
}

/** Results with the decisions about them, as the report has them. */
export function decided(
  results: readonly CheckResult[],
  { decisions, checklist, io }: Criteria,
): readonly CheckResult[] {
  return applyDecisions(results, decisions, io.now().getTime(), checklist).results;
}
