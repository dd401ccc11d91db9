import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import * as v from "valibot";
import { readText } from "../../command_line/files.ts";
import { readProblem } from "../../shared/error_code.ts";
import { dayMs } from "../../shared/history/days.ts";
import type { Span } from "../../shared/history/observation.ts";
import { parseJsonObject, type JsonObject } from "../../shared/json.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { changeLineSchema, type ChangeLineInput } from "../../shared/schemas/change.ts";
import { watchSchema, type WatchLine } from "../../shared/schemas/history.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { evidenceName } from "../runs/kept_runs.ts";
import { HistoryInput } from "./history_input.ts";

/** As long as a gateway keeps a history by default. */
const maxAgeMs = 400 * dayMs;
/** The clock of the machine that scanned may be ahead of this one's. */
const maxAheadMs = 300_000;
const maxFileBytes = 512 * 1_048_576;
const maxFiles = 20_000;

export interface ReadFolder {
  readonly input: HistoryInput;
  /** How many files say something. */
  readonly used: number;
  /** Files and lines that were left out and why, a line each. */
  readonly problems: readonly string[];
}

/** Reads the reports and change files of a folder and those below it. Throws `UsageError` where the folder cannot be read. */
export async function readFolder(directory: string, nowMs: number): Promise<ReadFolder> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    throw new UsageError([
      `Cannot read --from-reports ${JSON.stringify(directory)}: ${readProblem(error) ?? "unknown"}`,
    ]);
  });
  // The evidence of kept runs lies beside their reports.
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== evidenceName)
    .map(({ parentPath, name }) => join(parentPath, name));
  if (paths.length > maxFiles)
    throw new UsageError([`--from-reports ${JSON.stringify(directory)} has more than ${maxFiles} files`]);
  const input = new HistoryInput();
  const problems: string[] = [];
  const others: string[] = [];
  let used = 0;
  for (const path of paths.sort()) {
    const name = relative(directory, path);
    const found = await readFile(path, { input, name, nowMs });
    if (found === null) others.push(name);
    else {
      used += found.isUsed ? 1 : 0;
      problems.push(...found.problems.map((problem) => `${name}: ${problem}`));
    }
  }
  return { input, used, problems: [...othersLine(others), ...problems] };
}

const maxNamed = 20;

/** The other formats of a scan lie in the same folder: one line names them all. */
function othersLine(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return [
    `Skipped ${countOf(names.length, "file")}, neither a JSON report of scan nor lines of follow: ${names.slice(0, maxNamed).join(", ")}${more}`,
  ];
}

/** Null: it is nothing that this command reads. */
type FileOutcome = { readonly isUsed: boolean; readonly problems: readonly string[] } | null;

interface FileContext {
  readonly input: HistoryInput;
  readonly name: string;
  readonly nowMs: number;
}

async function readFile(path: string, context: FileContext): Promise<FileOutcome> {
  let text: string;
  try {
    text = await readText(path, maxFileBytes);
  } catch (error) {
    const problem = error instanceof Error && !("syscall" in error) ? error.message : readProblem(error);
    return leftOut(`it cannot be read: ${problem ?? "unknown"}`);
  }
  const whole = parseJsonObject(text);
  if (whole !== null && !isLine(whole)) return addReport(whole, context);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const isChangeFile = lines.some((line) => isLine(parseJsonObject(line)));
  return isChangeFile ? addChangeFile(lines, context) : null;
}

function isLine(value: JsonObject | null): boolean {
  return value?.["schema"] === "scanstream.change/1" || value?.["schema"] === "scanstream.watch/1";
}

function leftOut(problem: string): FileOutcome {
  return { isUsed: false, problems: [`left out: ${problem}`] };
}

function addReport(value: JsonObject, { input, nowMs }: FileContext): FileOutcome {
  if (value["schema"] !== "scanstream.report/1") return null;
  const report = v.safeParse(reportSchema, value, { abortEarly: true });
  if (!report.success)
    return leftOut(`it is not a whole report: ${v.getDotPath(report.issues[0]) ?? "it"} is not as in a report`);
  const { scan, checks } = report.output;
  const { started_at: from, ended_at: to } = scan;
  const problem = spanProblem({ from, to }, nowMs);
  if (problem !== null) return leftOut(problem);
  if (scan.status !== "completed") return leftOut(`its scan was ${scan.status}; only completed scans count`);
  if (Date.parse(to) < nowMs - maxAgeMs) return leftOut(`it is older than 400 days: it ends ${to}`);
  input.addReport({ scan, checks });
  return { isUsed: true, problems: [] };
}

function spanProblem({ from, to }: Pick<WatchLine, "from" | "to">, nowMs: number): string | null {
  const { from: begin, to: end } = toSpan(from, to);
  if (Number.isNaN(begin) || Number.isNaN(end)) return `${from} to ${to} is no time`;
  if (begin > nowMs + maxAheadMs) return `it begins in the future, ${from}`;
  return end < begin ? `it ends before it begins: ${from} to ${to}` : null;
}

interface Lines {
  readonly changes: ChangeLineInput[];
  readonly watched: WatchLine[];
}

/** A line that a process which was killed wrote half is left out, and so is one that follow does not write. */
function addChangeFile(texts: readonly string[], { input, name, nowMs }: FileContext): FileOutcome {
  const problems: string[] = [];
  const byOrganization = new Map<string, Lines>();
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const [index, text] of texts.entries()) {
    const line = parseLine(text, nowMs);
    if (typeof line === "string") {
      problems.push(`line ${index + 1} left out: ${line}`);
      continue;
    }
    const orgUrl = originOf(line.org_url);
    const lines = byOrganization.get(orgUrl) ?? { changes: [], watched: [] };
    byOrganization.set(orgUrl, lines);
    if (line.schema === "scanstream.watch/1") lines.watched.push(line);
    else lines.changes.push(line);
    newestMs = Math.max(newestMs, Date.parse(line.schema === "scanstream.watch/1" ? line.to : line.seen_at));
  }
  if (byOrganization.size === 0)
    return { isUsed: false, problems: [...problems, "left out: no line of it can be used"] };
  if (newestMs < nowMs - maxAgeMs) return leftOut("it is older than 400 days");
  for (const [orgUrl, { changes, watched }] of byOrganization) {
    const ids = [...changes, ...watched].flatMap(({ monitor_id: id }) => (id === undefined ? [] : [id]));
    if (watched.length === 0)
      problems.push(
        "it does not say when the follower looked: the time from its first to its last line counts as known",
      );
    input.addMonitor(orgUrl, {
      // Lines of another program may name no monitor: then the file is one.
      ids: new Set(ids.length === 0 ? [name] : ids),
      spans: watched.length === 0 ? [boundsOf(changes)] : watched.map(({ from, to }) => toSpan(from, to)),
      lines: new Map(changes.map((line) => [line.id, line])),
    });
  }
  return { isUsed: true, problems };
}

/** The line, or why it cannot be used. */
function parseLine(text: string, nowMs: number): (ChangeLineInput & { readonly org_url: string }) | WatchLine | string {
  const value = parseJsonObject(text);
  const watch = v.safeParse(watchSchema, value);
  if (watch.success) return spanProblem(watch.output, nowMs) ?? watch.output;
  const change = v.safeParse(changeLineSchema, value);
  if (!change.success) return "it is no line of follow";
  const { org_url: orgUrl, seen_at: seenAt } = change.output;
  if (orgUrl === undefined) return "it names no org_url";
  return spanProblem({ from: seenAt, to: seenAt }, nowMs) ?? { ...change.output, org_url: orgUrl };
}

function toSpan(from: string, to: string): Span {
  return { from: Date.parse(from), to: Date.parse(to) };
}

/** From the first to the last line. `Math.min(...times)` has a limit to how many there are. */
function boundsOf(changes: readonly ChangeLineInput[]): Span {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { seen_at: seenAt } of changes)
    [from, to] = [Math.min(from, Date.parse(seenAt)), Math.max(to, Date.parse(seenAt))];
  return { from, to };
}
