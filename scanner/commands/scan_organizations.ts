import type { CommandIo } from "../../command_line/command_io.ts";
import type { NamedFile } from "../../command_line/files.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printable } from "../../command_line/terminal.ts";
import { countStates, ruleStates } from "../../shared/rule_result.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import type { PreparedScan, ScanOutcome } from "./prepared_scan.ts";
import type { OrganizationSummary, Summary } from "./summary.ts";
import { summaryMarkdown, summaryTable, writeSummary } from "./summary_files.ts";

/** One organization of a run. */
export interface OrganizationScan {
  readonly name: string;
  readonly prepared: PreparedScan;
  /** Its output to stdout so far. */
  output(): string;
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
  const bugs: unknown[] = [];
  const waiting = scans.values();
  const work = async () => {
    // The workers share the iterator.
    for (const scan of waiting) {
      if (io.interrupted.aborted) return;
      const startedAtMs = performance.now();
      const outcome = await scan.prepared.run().catch((error: unknown) => {
        bugs.push(error);
        return null;
      });
      ended.set(scan, { outcome, durationMs: Math.round(performance.now() - startedAtMs) });
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));

  for (const scan of scans) if (scan.output() !== "") io.stdout(`${scan.name}\n\n${scan.output()}\n`);
  const organizations = scans.map((scan) => toSummary(scan, ended.get(scan)));
  const benchmarks = new Set(organizations.map(({ benchmark }) => benchmark));
  const summary: Summary = {
    schema: "scanstream.summary/1",
    benchmark: benchmarks.size === 1 ? ([...benchmarks][0] ?? null) : null,
    started_at: startedAt,
    ended_at: io.now().toISOString(),
    exit_code: worstCode(organizations),
    checks: addCounts(organizations),
    organizations,
  };
  io.stdout(summaryTable(summary, io.terminal.columns || 80));
  const { files, problems } = output === null ? { files: [], problems: [] } : await writeSummary(summary, output);
  for (const line of [...(isQuiet ? [] : files.map((file) => `Wrote ${file}`)), ...problems])
    io.terminal.write(`${printable(line)}\n`);
  const reports = scans.flatMap((scan) => {
    const report = ended.get(scan)?.outcome?.reported?.report;
    return report === undefined ? [] : [{ name: scan.name, report }];
  });
  await writeGitHubFeedback(reports, io, summaryMarkdown(summary));
  if (bugs.length > 0) throw bugs[0];
  return worstCode(organizations, { areWritten: problems.length === 0 });
}

interface Ended {
  /** Null: an unexpected error. */
  readonly outcome: ScanOutcome | null;
  readonly durationMs: number;
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
    duration_ms: ended?.durationMs ?? 0,
  };
  if (ended === undefined) return { ...base, status: "not_run", exit_code: null };
  const { outcome } = ended;
  if (outcome === null) {
    const error = { code: "internal_error", message: "The scanner failed: a bug", remedy: null };
    return { ...base, status: "failed", exit_code: exitCodes.bug, error };
  }
  const { code, reported, error: refusal } = outcome;
  if (reported === null) {
    const error = refusal && { code: refusal.code, message: refusal.message, remedy: refusal.remedy };
    return { ...base, status: "failed", exit_code: code, error };
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
