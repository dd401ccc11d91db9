import type { CommandIo } from "../../../command_line/command_io.ts";
import type { NamedFile } from "../../../command_line/files.ts";
import { exitCodes } from "../../../command_line/exit_code.ts";
import { printable } from "../../../command_line/terminal.ts";
import { countStates, ruleStates } from "../../../shared/rule_result.ts";
import { writeGitHubFeedback, type NamedReport } from "../github_actions.ts";
import type { PreparedScan, ScanOutcome } from "../prepared_scan.ts";
import type { OrganizationIo } from "./organization_io.ts";
import type { OrganizationSummary, Summary } from "./summary.ts";
import { summaryMarkdown, summaryTable, writeSummary } from "./summary_files.ts";

/** One organization of a run. */
export interface OrganizationScan {
  readonly name: string;
  readonly prepared: PreparedScan;
  readonly io: OrganizationIo;
}

interface RunOptions {
  readonly parallel: number;
  /** Folder for the summary; null: to stdout only. */
  readonly output: NamedFile | null;
  /** Says only what went wrong. */
  readonly isQuiet: boolean;
}

/**
 * Scans them, as many at one time as the options say: each has separate rate limits. One that fails stops no other. After
 * an interruption those under way end as cancelled, and the others are not run. Rejects with the first bug, after the
 * summary.
 */
export async function scanOrganizations(
  scans: readonly OrganizationScan[],
  { parallel, output, isQuiet }: RunOptions,
  io: CommandIo,
): Promise<number> {
  const startedAt = io.now().toISOString();
  const ended = new Map<OrganizationScan, Ended>();
  const waiting = [...scans];
  const write = writeInOrder(scans, io);
  const work = async () => {
    for (let scan = waiting.shift(); scan !== undefined && !io.interrupted.aborted; scan = waiting.shift()) {
      ended.set(scan, await runOne(scan));
      write(ended);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));

  const organizations = scans.map((scan) => toSummary(scan, ended.get(scan)));
  const benchmarks = [...new Set(organizations.map(({ benchmark }) => benchmark))];
  const summary: Summary = {
    schema: "scanstream.summary/1",
    benchmark: benchmarks.length === 1 ? (benchmarks[0] ?? null) : null,
    started_at: startedAt,
    ended_at: io.now().toISOString(),
    exit_code: worstCode(organizations),
    checks: addCounts(organizations),
    organizations,
  };
  io.stdout(summaryTable(summary, io.terminal.columns || 80));
  const { files, problems } = output === null ? { files: [], problems: [] } : await writeSummary(summary, output);
  for (const file of isQuiet ? [] : files) io.terminal.write(`Wrote ${printable(file)}\n`);
  for (const problem of problems) io.terminal.write(`${printable(problem)}\n`);
  const reports = scans.flatMap((scan): readonly NamedReport[] => {
    const report = ended.get(scan)?.outcome?.reported?.report;
    return report === undefined ? [] : [{ name: scan.name, report }];
  });
  await writeGitHubFeedback(reports, io, summaryMarkdown(summary));
  const bug = [...ended.values()].find(({ outcome }) => outcome === null);
  if (bug !== undefined) throw bug.error;
  return worstCode(organizations, { areWritten: problems.length === 0 });
}

interface Ended {
  /** Null: an unexpected error. */
  readonly outcome: ScanOutcome | null;
  readonly error: unknown;
  readonly durationMs: number;
}

async function runOne({ prepared }: OrganizationScan): Promise<Ended> {
  const startedAtMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAtMs);
  try {
    const outcome = await prepared.run();
    return { outcome, error: null, durationMs: durationMs() };
  } catch (error) {
    return { outcome: null, error, durationMs: durationMs() };
  }
}

/** Writes the reports of stdout in the order of the file, each as soon as those before it are written. */
function writeInOrder(
  scans: readonly OrganizationScan[],
  io: CommandIo,
): (ended: ReadonlyMap<OrganizationScan, Ended>) => void {
  let next = 0;
  return (ended) => {
    for (let scan = scans[next]; scan !== undefined && ended.has(scan); scan = scans[next]) {
      const text = scan.io.output();
      if (text !== "") io.stdout(`${scan.name}\n\n${text}\n`);
      next += 1;
    }
  };
}

function toSummary({ name, prepared }: OrganizationScan, ended: Ended | undefined): OrganizationSummary {
  const base = {
    name,
    org_url: prepared.orgUrl,
    benchmark: prepared.benchmark,
    scan_id: null,
    checks: null,
    gate: null,
    error: null,
    files: [],
  };
  if (ended === undefined) return { ...base, status: "not_run", exit_code: null, duration_ms: 0 };
  const { outcome, durationMs } = ended;
  if (outcome === null) {
    const error = { code: "internal_error", message: "The scanner failed: a bug", remedy: null };
    return { ...base, status: "failed", exit_code: exitCodes.bug, error, duration_ms: durationMs };
  }
  const { code, reported, error } = outcome;
  if (reported === null) {
    const reason = error === null ? null : { code: error.code, message: error.message, remedy: error.remedy };
    return { ...base, status: "failed", exit_code: code, error: reason, duration_ms: durationMs };
  }
  const { report, gateLine, files } = reported;
  const { pass, fail, manual, not_applicable } = report.summary;
  const isCompleted = report.scan.status === "completed";
  return {
    ...base,
    status: isCompleted ? "completed" : "cancelled",
    exit_code: code,
    scan_id: report.scan.id,
    checks: { pass, fail, manual, not_applicable },
    gate: isCompleted ? gateLine : null,
    files: [...files],
    duration_ms: durationMs,
  };
}

function addCounts(organizations: readonly OrganizationSummary[]): Summary["checks"] {
  const total = { ...countStates([]) };
  for (const { checks } of organizations) for (const state of ruleStates) total[state] += checks?.[state] ?? 0;
  return total;
}

/** The worst that one of them has: rules without a result weigh less than findings, and no result at all weighs more. */
function worstCode(organizations: readonly OrganizationSummary[], { areWritten } = { areWritten: true }): number {
  const has = (code: number, isReported: (checks: unknown) => boolean = () => true) =>
    organizations.some((one) => (one.exit_code ?? exitCodes.interrupted) === code && isReported(one.checks));
  if (has(exitCodes.interrupted)) return exitCodes.interrupted;
  if (has(exitCodes.bug)) return exitCodes.bug;
  if (has(exitCodes.unread, (checks) => checks === null)) return exitCodes.unread;
  if (has(exitCodes.usage) || !areWritten) return exitCodes.usage;
  if (has(exitCodes.findings)) return exitCodes.findings;
  return has(exitCodes.unread) ? exitCodes.unread : exitCodes.ok;
}
