import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import * as v from "valibot";
import { readText } from "../../command_line/files.ts";
import { readProblem } from "../../shared/error_code.ts";
import { dayMs } from "../../shared/history/days.ts";
import { parseJsonObject, type JsonObject } from "../../shared/json.ts";
import { changeLineSchema, type ChangeLineInput } from "../../shared/schemas/change.ts";
import { watchSchema, type WatchLine } from "../../shared/schemas/history.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { HistoryInput, originOf } from "./history_input.ts";

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
  /** What was left out and why, a line each. */
  readonly problems: readonly string[];
}

/** Reads the reports and change files of a folder and those below it. Throws `UsageError` where the folder cannot be read. */
export async function readFolder(directory: string, nowMs: number): Promise<ReadFolder> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    throw new UsageError([
      `Cannot read --from-reports ${JSON.stringify(directory)}: ${readProblem(error) ?? "unknown"}`,
    ]);
  });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  if (paths.length > maxFiles)
    throw new UsageError([`--from-reports ${JSON.stringify(directory)}: has more than ${maxFiles} files`]);
  const input = new HistoryInput();
  const problems: string[] = [];
  let used = 0;
  for (const path of paths.sort()) {
    const name = relative(directory, path);
    const outcome = await readFile(path, { input, name, nowMs });
    used += outcome.isUsed ? 1 : 0;
    problems.push(...outcome.problems.map((problem) => `${name}: ${problem}`));
  }
  return { input, used, problems };
}

interface FileOutcome {
  readonly isUsed: boolean;
  readonly problems: readonly string[];
}

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
  return isChangeFile ? addChangeFile(lines, context) : leftOut("it is no report and no file of follow");
}

function isLine(value: JsonObject | null): boolean {
  return value?.["schema"] === "scanstream.change/1" || value?.["schema"] === "scanstream.watch/1";
}

function leftOut(problem: string): FileOutcome {
  return { isUsed: false, problems: [`left out: ${problem}`] };
}

function addReport(value: JsonObject, { input, nowMs }: FileContext): FileOutcome {
  if (value["schema"] !== "scanstream.report/1") return leftOut("it is no report (scanstream.report/1)");
  const report = v.safeParse(reportSchema, value, { abortEarly: true });
  if (!report.success)
    return leftOut(`it is no report: ${v.getDotPath(report.issues[0]) ?? "it"} is not as in a report`);
  const { scan, checks } = report.output;
  const problem = timeProblem({ from: scan.started_at, to: scan.ended_at, nowMs });
  if (problem !== null) return leftOut(problem);
  input.addReport({ scan, checks });
  return { isUsed: true, problems: [] };
}

function timeProblem({ from, to, nowMs }: { readonly from: string; readonly to: string; readonly nowMs: number }) {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(begin) || Number.isNaN(end)) return "its times are no times";
  if (begin > nowMs + maxAheadMs) return `it begins in the future, ${from}`;
  if (end < begin) return `it ends before it begins: ${from} to ${to}`;
  return end < nowMs - maxAgeMs ? `it is older than 400 days: it ends ${to}` : null;
}

/** What a process that was killed wrote of its last line is left out, and so is what no program of ours wrote. */
function addChangeFile(texts: readonly string[], { input, name, nowMs }: FileContext): FileOutcome {
  const changes: { readonly line: ChangeLineInput; readonly orgUrl: string; readonly monitorId: string | null }[] = [];
  const watched: { readonly line: WatchLine; readonly monitorId: string | null }[] = [];
  const problems: string[] = [];
  for (const [index, text] of texts.entries()) {
    const value = parseJsonObject(text);
    const change = v.safeParse(changeLineSchema, value);
    const watch = v.safeParse(watchSchema, value);
    const problem = change.success
      ? change.output.org_url === undefined
        ? "it names no org_url"
        : timeProblem({ from: change.output.seen_at, to: new Date(nowMs + maxAheadMs).toISOString(), nowMs })
      : watch.success
        ? timeProblem({ ...watch.output, to: watch.output.to, nowMs: nowMs })
        : "it is no line of follow";
    const isOld = problem?.startsWith("it is older") === true;
    if (problem !== null && !isOld) problems.push(`line ${index + 1} left out: ${problem}`);
    else if (change.success && change.output.org_url !== undefined)
      changes.push({
        line: change.output,
        orgUrl: originOf(change.output.org_url),
        monitorId: change.output.monitor_id ?? null,
      });
    else if (watch.success && !isOld) watched.push({ line: watch.output, monitorId: watch.output.monitor_id ?? null });
  }
  const times = [...changes.map(({ line }) => line.seen_at), ...watched.map(({ line }) => line.to)].map(Date.parse);
  if (times.length === 0) return { isUsed: false, problems: [...problems, "left out: no line of it can be used"] };
  if (Math.max(...bounds(times)) < nowMs - maxAgeMs) return leftOut("it is older than 400 days");
  for (const orgUrl of new Set([
    ...changes.map((one) => one.orgUrl),
    ...watched.map(({ line }) => originOf(line.org_url)),
  ])) {
    const ownChanges = changes.filter((one) => one.orgUrl === orgUrl);
    const ownWatched = watched.filter(({ line }) => originOf(line.org_url) === orgUrl);
    // Lines of another program may name no monitor: then the file is one.
    const ids = new Set(ownChanges.map(({ monitorId }) => monitorId ?? name));
    for (const { line, monitorId } of ownChanges) input.addChange(line, { orgUrl, id: monitorId ?? name });
    for (const { line, monitorId } of ownWatched) {
      const span = { from: Date.parse(line.from), to: Date.parse(line.to) };
      for (const id of monitorId === null ? ids : [monitorId]) input.addSpan(span, { orgUrl, id });
    }
    if (ownWatched.length > 0) continue;
    problems.push("it does not say when the follower looked: the time from its first to its last line counts as known");
    for (const id of ids) {
      const own = ownChanges.filter(({ monitorId }) => (monitorId ?? name) === id);
      const [from, to] = bounds(own.map(({ line }) => Date.parse(line.seen_at)));
      input.addSpan({ from, to }, { orgUrl, id });
    }
  }
  return { isUsed: true, problems };
}

/** `Math.min(...times)` has a limit to how many there are. */
function bounds(times: readonly number[]): readonly [from: number, to: number] {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const time of times) [from, to] = [Math.min(from, time), Math.max(to, time)];
  return [from, to];
}
