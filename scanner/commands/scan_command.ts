import { resolve } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes, worstOf } from "../../command_line/exit_code.ts";
import { requireWritable, standardStream } from "../../command_line/files.ts";
import { printable, writeLines } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { builtIn } from "../catalog/catalog.ts";
import { sha256 } from "../digest.ts";
import { IdpError } from "../okta/idp_error.ts";
import { reportFormats } from "../reports/formats.ts";
import { requireTarget, writeFormats } from "../reports/write_reports.ts";
import type { FinishedScan } from "../run_scan.ts";
import { oneOrganization, settingsOfEach } from "../settings/organizations.ts";
import {
  readConnectedSettings,
  readSettings,
  type ConnectedSettings,
  type Flags,
  type Given,
  type Settings,
} from "../settings/read_settings.ts";
import { keepRun } from "../runs/kept_runs.ts";
import { signFiles } from "../signing/statement.ts";
import { readStreamConfig, startPublishing } from "../streaming/start_publishing.ts";
import { readCriteria } from "./criteria.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import { createProgress, newProgress, type Progress } from "./progress.ts";
import { finishScan, readReportTarget, readSigning, saveArtifacts, toReport, writeIdpError } from "./report_output.ts";
import { decided, openSource, reportOn, scanOrg } from "./sources.ts";
import { summarize, summaryFormats, summaryMarkdown, summaryTable, type ScanEnd } from "./summary.ts";

/** `scan` of the organization of flags and variables, or of one or several of the configuration file. Resolves with the exit code. */
export async function scanCommand(flags: Flags, io: CommandIo): Promise<number> {
  try {
    const organizations = await settingsOfEach("scan", flags, io);
    const [only, ...others] = organizations;
    if (only === undefined || others.length > 0) return await scanSeveral(organizations, io);
    const settings = readConnectedSettings(only);
    const { run, revision } = await prepareScan(settings, io, newProgress(settings, io));
    const end = await run();
    await writeGitHubFeedback([{ ...end, name: null, revision }], io);
    return exitCodes[end.outcome];
  } catch (error) {
    if (error instanceof UsageError) {
      const end = { outcome: "usage", line: error.message, report: null } as const;
      await writeGitHubFeedback([{ ...end, name: null, revision: builtIn }], io);
    }
    throw error;
  }
}

/** `collect`: the evidence alone, which `evaluate` reads later. */
export async function collectCommand(flags: Flags, io: CommandIo): Promise<number> {
  const settings = readConnectedSettings(await oneOrganization("collect", flags, io));
  const { saveArtifacts: target, quiet: isQuiet } = settings;
  if (target === null)
    throw new UsageError(["--save-artifacts FILE is missing: expected a file for the evidence, or - for stdout"]);
  const criteria = await readCriteria(settings, settings.connection, io);
  const { checks, revision, orgPolicy } = criteria;
  const signer = await readSigning(settings);
  if (target.file !== standardStream) await requireWritable({ file: target });
  const progress = newProgress(settings, io);
  const { status, document } = await scanOrg(criteria, progress);
  const text = JSON.stringify(document);
  let areSaved = await saveArtifacts(text, criteria);
  if (areSaved && signer !== null) {
    const facts = { scan: document.scan, revision, evidence: sha256(text), toolVersion: io.toolVersion, orgPolicy };
    const { files, problems } = await signFiles([target.file], facts, { signer, name: null });
    writeLines(io, ...(isQuiet ? [] : files.map((path) => `Wrote ${path}`)), ...problems);
    areSaved = problems.length === 0;
  }
  const place = target.file === standardStream ? "stdout" : target.file;
  if (areSaved && !isQuiet) progress.message(`Saved evidence for ${countOf(checks.length, "check")} to ${place}`);
  if (status === "cancelled") return exitCodes.interrupted;
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
  const end = await finishScan(report, { ...run, from: file });
  await writeGitHubFeedback([{ ...end, name: null, revision: run.revision }], io);
  return exitCodes[end.outcome];
}

/** Reads everything that can be refused before the first request to the provider. */
async function prepareScan(settings: ConnectedSettings, io: CommandIo, progress: Progress) {
  const { saveArtifacts: evidenceFile } = settings;
  const { orgUrl, clientId: client_id } = settings.connection;
  if (evidenceFile?.file === standardStream) {
    throw new UsageError([`${evidenceFile.option} -: stdout already has the report. Name a file, or use collect`]);
  }
  const streamConfig = settings.isStreamed ? readStreamConfig(io.env) : null;
  const criteria = await readCriteria(settings, { orgUrl }, io);
  const target = await readReportTarget(settings, io);
  const { checks, revision } = criteria;
  const benchmark = revision.benchmark.id;
  return { name: settings.organization ?? orgUrl, orgUrl, benchmark, revision, run };

  async function run(): Promise<ScanEnd> {
    // A message may quote an answer of the gateway or the broker.
    const warn = (text: string) => progress.message(printable(text));
    const facts = { org_url: orgUrl, client_id, benchmark, checks_total: checks.length };
    const log = { warn, info: settings.quiet ? () => {} : warn };
    const stream = streamConfig === null ? null : await startPublishing(streamConfig, facts, log);
    let scan: FinishedScan;
    try {
      scan = await scanOrg(criteria, progress, stream);
    } catch (error) {
      const isRefused = error instanceof IdpError;
      stream?.error(isRefused ? error.code : "internal_error", isRefused ? error.message : "The scanner failed");
      await stream?.end("failed", []);
      if (!isRefused) throw error;
      await writeIdpError(error, target, io);
      const line = [error.message, error.remedy].filter(Boolean).join(". ");
      return { outcome: "refused", report: null, error, line };
    }
    const text = JSON.stringify(scan.document);
    let areSaved: boolean;
    try {
      // Evidence first: it is on disk before the wait for the gateway.
      areSaved = await saveArtifacts(text, criteria);
    } finally {
      await stream?.end(scan.status, decided(scan.results, criteria));
    }
    const report = toReport(scan, criteria, { text, ...stream?.registered() });
    const isWhole = scan.status === "completed" && !isNarrowed(settings);
    const isKept = isWhole && (await keepRun({ document: scan.document, report }, criteria));
    const saved = areSaved ? evidenceFile?.file : undefined;
    const end = await finishScan(report, { ...criteria, target, evidenceFile: saved, areSaved, isKept });
    await stream?.storeReport(report);
    return end;
  }
}

/** Returns true where options of this run leave rules out: `--baseline last` would count the others as new. */
function isNarrowed(settings: Settings): boolean {
  const narrowing = ["check", "exclude", "severity"] as const;
  return narrowing.some((name) => (settings[name] ?? []).length > 0 && settings.nameOf(name).startsWith("--"));
}

/**
 * Scans them, as many at one time as the settings say: each has separate rate limits. One that fails stops no other. After
 * an interruption those under way end as cancelled, and the others are not run. Rejects with the first bug, after the
 * summary.
 */
async function scanSeveral(organizations: readonly Given[], io: CommandIo): Promise<number> {
  const startedAt = io.now().toISOString();
  const scans = await prepareEach(organizations, io);
  // Settings that all share, without the name of an organization.
  const { file = [], ...first } = organizations[0] as Given;
  const { parallel, output, quiet } = readSettings({ ...first, organization: null, file: file.slice(1) });
  const target = { name: "summary", formats: summaryFormats, outputDir: output, stdout: () => {} };
  await requireTarget(target);

  const ends: ScanEnd[] = [];
  const bugs: unknown[] = [];
  const queue = scans.entries();
  const work = async () => {
    // The workers share the iterator.
    for (const [index, scan] of queue) {
      if (io.interrupted.aborted) return;
      const startedAtMs = performance.now();
      const end = await scan.run().catch((error: unknown): ScanEnd => {
        bugs.push(error);
        const line = "The scanner failed: a bug";
        return { outcome: "bug", report: null, error: { code: "internal_error", message: line, remedy: null }, line };
      });
      ends[index] = { ...end, durationMs: Math.round(performance.now() - startedAtMs) };
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));

  for (const { name, output: own } of scans) if (own() !== "") io.stdout(`${name}\n\n${own()}\n`);
  const all = scans.map((scan, index) => ({ ...scan, end: ends[index] ?? null }));
  const outcome = worstOf(all.map(({ end }) => end?.outcome ?? "interrupted"));
  const times = { started_at: startedAt, ended_at: io.now().toISOString(), exit_code: exitCodes[outcome] };
  const summary = summarize(all, times);
  io.stdout(summaryTable(summary, io.terminal.columns));
  const { files, problems: unwritten } = await writeFormats(summary, {}, target);
  writeLines(io, ...(quiet ? [] : files.map((path) => `Wrote ${path}`)), ...unwritten);
  const ended = all.flatMap(({ name, revision, end }) => (end === null ? [] : { ...end, name, revision }));
  await writeGitHubFeedback(ended, io, summaryMarkdown(summary));
  if (bugs.length > 0) throw bugs[0];
  return exitCodes[worstOf([outcome, unwritten.length > 0 && "usage"])];
}

/** Throws `UsageError` naming everything that is wrong with any of them. */
async function prepareEach(organizations: readonly Given[], io: CommandIo) {
  const problems: string[] = [];
  const scans: Awaited<ReturnType<typeof prepareOne>>[] = [];
  const places = new Map<string, string>();
  for (const given of organizations) {
    try {
      const settings = readConnectedSettings(given);
      requirePlace(settings);
      scans.push(await prepareOne(settings, io));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new UsageError([...new Set(problems)]);
  return scans;

  /** Reports of several organizations on one stdout are of use to people only, and no two write to one place. */
  function requirePlace(settings: ConnectedSettings): void {
    const { output, saveArtifacts: evidence, organization } = settings;
    const machine = reportFormats.find(({ name, isMachine }) => isMachine && settings.format.includes(name));
    if (output === null && machine !== undefined)
      throw new UsageError([
        `${settings.nameOf("format")} ${machine.name}: ${organizations.length} organizations need --output DIR, with a folder for each; or choose one with --org`,
      ]);
    for (const place of [output, evidence]) {
      if (place === null) continue;
      const { option, file } = place;
      const other = places.get(resolve(file));
      if (other !== undefined) throw new UsageError([`${option} ${JSON.stringify(file)}: ${other} writes there too`]);
      places.set(resolve(file), organization ?? "");
    }
  }
}

/** Its messages carry its name, and what it writes to stdout is kept (`output`), so that several never mix. */
async function prepareOne(settings: ConnectedSettings, io: CommandIo) {
  const name = settings.organization ?? settings.connection.orgUrl;
  const kept: string[] = [];
  const write = (text: string) => io.terminal.write(text.replaceAll(/^(?=.)/gm, `${name}: `));
  const terminal = { ...io.terminal, isTTY: false, write };
  const own = { ...io, terminal, stdout: (text: string) => void kept.push(text) };
  const progress = createProgress(terminal, settings.quiet ? "quiet" : "totals");
  return { ...(await prepareScan(settings, own, progress)), output: () => kept.join("") };
}
