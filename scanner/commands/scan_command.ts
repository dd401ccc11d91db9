import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes, worstOf, type Outcome } from "../../command_line/exit_code.ts";
import { standardStream } from "../../command_line/files.ts";
import { printable, writeLines } from "../../command_line/terminal.ts";
import type { Report } from "../../shared/report.ts";
import { countStates, ruleStates } from "../../shared/rule_result.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { sha256 } from "../digest.ts";
import { IdpError } from "../okta/idp_error.ts";
import { reportFormats } from "../reports/formats.ts";
import { requireTarget, writeFormats } from "../reports/write_reports.ts";
import type { FinishedScan } from "../run_scan.ts";
import { settingsOfEach } from "../settings/organizations.ts";
import {
  readConnectedSettings,
  readSettings,
  type ConnectedSettings,
  type Flags,
  type Given,
  type Settings,
} from "../settings/read_settings.ts";
import { readStreamConfig, startPublishing } from "../streaming/start_publishing.ts";
import { endOf, writeGitHubFeedback } from "./github_actions.ts";
import { readCriteria } from "./criteria.ts";
import { createProgress, newProgress, type Progress } from "./progress.ts";
import { finishScan, readReportTarget, saveArtifacts, toReport, writeIdpError } from "./report_output.ts";
import { decided, keep, scanOrg } from "./sources.ts";
import { summaryFormats, summaryMarkdown, summaryTable, type OrganizationSummary, type Summary } from "./summary.ts";

/** `scan` of the organization of flags and variables, or of one or several of the configuration file. Resolves with the exit code. */
export async function scanCommand(flags: Flags, io: CommandIo): Promise<number> {
  try {
    return await scan(flags, io);
  } catch (error) {
    if (error instanceof UsageError) await writeGitHubFeedback([], io, endOf("usage", error.message));
    throw error;
  }
}

async function scan(flags: Flags, io: CommandIo): Promise<number> {
  const organizations = await settingsOfEach("scan", flags, io);
  const [first, ...others] = organizations;
  if (first === undefined) throw new TypeError("No organization was chosen");
  if (others.length > 0) return scanSeveral(organizations, io);
  const settings = readConnectedSettings(first);
  const { run, revision } = await prepareScan(settings, io, newProgress(settings, io));
  const { outcome, report, line } = await run();
  const reports = report === null ? [] : [{ name: null, report, revision }];
  await writeGitHubFeedback(reports, io, endOf(outcome, line));
  return exitCodes[outcome];
}

interface ScanEnd {
  readonly outcome: Outcome;
  /** Null: nothing was evaluated, and the row says why. */
  readonly report: Report | null;
  /** Why it ended so. */
  readonly line: string;
  readonly row: Partial<OrganizationSummary>;
}

/** The end of a scan in which nothing was evaluated. */
function failed(outcome: Outcome, { code, message, remedy }: NonNullable<OrganizationSummary["error"]>): ScanEnd {
  const error = { code, message, remedy };
  return {
    outcome,
    report: null,
    line: [message, remedy].filter(Boolean).join(". "),
    row: { status: "failed", exit_code: exitCodes[outcome], error },
  };
}

/**
 * Refuses everything that can be refused before the first request to the provider. `waiting` is the row of the summary as long as the scan is
 * not run.
 */
async function prepareScan(settings: ConnectedSettings, io: CommandIo, progress: Progress) {
  const { saveArtifacts: evidenceFile, quiet } = settings;
  const { orgUrl, clientId: client_id } = settings.connection;
  if (evidenceFile?.file === standardStream) {
    throw new UsageError([`${evidenceFile.option} -: stdout already has the report. Name a file, or use collect`]);
  }
  const streamConfig = settings.isStreamed ? readStreamConfig(io.env) : null;
  const criteria = await readCriteria(settings, orgUrl, io);
  const target = await readReportTarget(settings, io);
  const { checks, revision } = criteria;
  const benchmark = revision.benchmark.id;
  const none = { exit_code: null, scan_id: null, checks: null, gate: null, error: null, duration_ms: 0, files: [] };
  const name = settings.organization ?? orgUrl;
  const waiting: OrganizationSummary = { name, org_url: orgUrl, benchmark, status: "not_run", ...none };
  return { waiting, revision, run };

  async function run(): Promise<ScanEnd> {
    // A message may quote an answer of the gateway or the broker.
    const warn = (text: string) => progress.message(printable(text));
    const facts = { org_url: orgUrl, client_id, benchmark, checks_total: checks.length };
    const log = { warn, info: quiet ? () => {} : warn };
    const stream = streamConfig === null ? null : startPublishing(streamConfig, facts, log);
    let scan: FinishedScan;
    try {
      scan = await scanOrg(criteria, progress, stream);
    } catch (error) {
      const isRefused = error instanceof IdpError;
      stream?.error(isRefused ? error.code : "internal_error", isRefused ? error.message : "The scanner failed");
      await stream?.end("failed", []);
      if (!isRefused) throw error;
      await writeIdpError(error, target, io);
      return failed("refused", error);
    }
    let areSaved: boolean;
    try {
      // Evidence first: it is on disk before the wait for the gateway.
      areSaved = await saveArtifacts(scan, criteria);
    } finally {
      await stream?.end(scan.status, decided(scan.results, criteria));
    }
    const { id, tenant_id: tenantId } = stream?.registered() ?? { id: randomUUID(), tenant_id: null };
    const evidence = sha256(JSON.stringify(scan.document));
    const report = toReport(scan, criteria, { evidence, id, tenantId });
    const isWhole = scan.status === "completed" && !isNarrowed(settings);
    const isKept = isWhole && (await keep({ document: scan.document, report }, criteria));
    const saved = areSaved ? evidenceFile?.file : undefined;
    const finished = { ...criteria, target, evidenceFile: saved };
    const { outcome, files, gateLine } = await finishScan(report, finished, { areSaved, isKept });
    await stream?.storeReport(report);
    const { pass, fail, manual, not_applicable } = report.summary;
    const row = {
      status: scan.status,
      exit_code: exitCodes[outcome],
      scan_id: report.scan.id,
      checks: { pass, fail, manual, not_applicable },
      gate: scan.status === "completed" ? gateLine : null,
      files: [...files],
    };
    return { outcome, report, line: gateLine, row };
  }
}

/** Returns true where options of this run leave rules out: `--baseline last` would count the others as new. */
function isNarrowed({ check, exclude, severity, nameOf }: Settings): boolean {
  const given = { check: check ?? [], exclude, severity };
  return (["check", "exclude", "severity"] as const).some(
    (name) => given[name].length > 0 && nameOf(name).startsWith("--"),
  );
}

type OrganizationScan = Awaited<ReturnType<typeof prepareOne>>;

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

  const ended = new Map<OrganizationScan, ScanEnd>();
  const bugs: unknown[] = [];
  const queue = scans.values();
  const work = async () => {
    // The workers share the iterator.
    for (const scan of queue) {
      if (io.interrupted.aborted) return;
      const startedAtMs = performance.now();
      const end = await scan.run().catch((error: unknown) => {
        bugs.push(error);
        return failed("bug", { code: "internal_error", message: "The scanner failed: a bug", remedy: null });
      });
      ended.set(scan, { ...end, row: { ...end.row, duration_ms: Math.round(performance.now() - startedAtMs) } });
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));

  for (const scan of scans) if (scan.output() !== "") io.stdout(`${scan.waiting.name}\n\n${scan.output()}\n`);
  const rows = scans.map((scan) => ({ ...scan.waiting, ...ended.get(scan)?.row }));
  const outcome = worstOf(scans.map((scan) => ended.get(scan)?.outcome ?? "interrupted"));
  const checks = { ...countStates([]) };
  for (const row of rows) for (const state of ruleStates) checks[state] += row.checks?.[state] ?? 0;
  const summary: Summary = {
    schema: "scanstream.summary/1",
    benchmark: rows.every(({ benchmark }) => benchmark === rows[0]?.benchmark) ? (rows[0]?.benchmark ?? null) : null,
    started_at: startedAt,
    ended_at: io.now().toISOString(),
    exit_code: exitCodes[outcome],
    checks,
    organizations: rows,
  };
  io.stdout(summaryTable(summary, io.terminal.columns || 80));
  const { files, problems: unwritten } = await writeFormats(summary, {}, target);
  writeLines(io, ...(quiet ? [] : files.map((path) => `Wrote ${path}`)), ...unwritten);
  const reports = scans.flatMap((scan) => {
    const report = ended.get(scan)?.report ?? null;
    return report === null ? [] : [{ name: scan.waiting.name, report, revision: scan.revision }];
  });
  const problems = [...ended].flatMap(([{ waiting }, { outcome: own, line }]) =>
    own === "ok" ? [] : [`${waiting.name}: ${line}`],
  );
  await writeGitHubFeedback(reports, io, { overview: summaryMarkdown(summary), problems });
  if (bugs.length > 0) throw bugs[0];
  return exitCodes[worstOf([outcome, unwritten.length > 0 && "usage"])];
}

/** Throws `UsageError` naming everything that is wrong with any of them. */
async function prepareEach(organizations: readonly Given[], io: CommandIo): Promise<readonly OrganizationScan[]> {
  const problems: string[] = [];
  const scans: OrganizationScan[] = [];
  const places = new Map<string, string>();
  for (const given of organizations) {
    try {
      const settings = readConnectedSettings(given);
      requirePlace(settings, { count: organizations.length, places });
      scans.push(await prepareOne(settings, io));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new UsageError([...new Set(problems)]);
  return scans;
}

/** Reports of several organizations on one stdout are of use to people only, and no two write to one place. */
function requirePlace(
  settings: ConnectedSettings,
  { count, places }: { readonly count: number; readonly places: Map<string, string> },
): void {
  const { output, saveArtifacts: evidence, organization } = settings;
  const machine = reportFormats.find(({ name, isMachine }) => isMachine && settings.format.includes(name));
  if (output === null && machine !== undefined)
    throw new UsageError([
      `${settings.nameOf("format")} ${machine.name}: ${count} organizations need --output DIR, with a folder for each; or choose one with --org`,
    ]);
  for (const place of [output, evidence]) {
    if (place === null) continue;
    const { option, file } = place;
    const other = places.get(resolve(file));
    if (other !== undefined) throw new UsageError([`${option} ${JSON.stringify(file)}: ${other} writes there too`]);
    places.set(resolve(file), organization ?? "");
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
