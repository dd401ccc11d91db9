import { vulnIdOf } from "../../shared/rule_names.ts";
import type { CheckResult } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { stateLabels } from "../reports/result_text.ts";
import { countOf, outcomeText } from "../../shared/outcome_text.ts";
import type { ScanCounts } from "../streaming/scan_publisher.ts";
import { shorten } from "../../shared/text.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { paintStatus, printable, type Terminal, textWidth } from "../../command_line/terminal.ts";
import type { ScanTrace } from "../run_scan.ts";

export type Progress = ReturnType<typeof createProgress>;

/** `bar` leaves one line of totals, `totals` is for a scan next to others, and `quiet` shows messages only. */
export type ProgressForm = "bar" | "lines" | "totals" | "quiet";

/** The length of a line for each check, also without a terminal. */
const resultColumns = 80;
const eraseLine = "\r\u001b[2K";

/** Chooses the form: on a terminal that can erase a line a bar, because the report has the rest; elsewhere a line for each check. */
export function newProgress({ quiet }: { readonly quiet: boolean }, { terminal, env }: CommandIo): Progress {
  const mayErase = terminal.isTTY && env["TERM"] !== "dumb";
  return createProgress(terminal, quiet ? "quiet" : mayErase ? "bar" : "lines");
}

/** Shows how far a scan is. `now`: milliseconds of a monotonic clock. */
export function createProgress(terminal: Terminal, form: ProgressForm, now: () => number = () => performance.now()) {
  let waiting: readonly string[] = [];
  let counts: ScanCounts = { checks_done: 0, checks_total: 0, pass: 0, fail: 0, manual: 0, not_applicable: 0 };
  let startedAtMs = 0;
  let isBarShown = false;
  const draw = () => {
    if (!isBarShown) return;
    const bar = barText(counts, waiting[0], now() - startedAtMs, terminal.columns);
    terminal.write(`${eraseLine}${bar}`);
  };
  return {
    started(checks: readonly string[]): void {
      waiting = checks;
      counts = { ...counts, checks_total: checks.length };
      startedAtMs = now();
      isBarShown = form === "bar";
      if (form === "lines" || form === "totals") terminal.write(`Scanning: ${countOf(checks.length, "check")}\n`);
      draw();
    },
    checkEvaluated(result: CheckResult, newest: ScanCounts): void {
      waiting = waiting.filter((check) => check !== result.check);
      counts = newest;
      if (form === "lines") terminal.write(`${resultLine(result, counts, terminal)}\n`);
      draw();
    },
    /** Writes a message in between; it never breaks the bar. */
    message(text: string): void {
      if (isBarShown) terminal.write(eraseLine);
      terminal.write(`${text}\n`);
      draw();
    },
    ended(): void {
      if (isBarShown) terminal.write(eraseLine);
      isBarShown = false;
      const { checks_done: done, checks_total: total } = counts;
      const seconds = Math.ceil((now() - startedAtMs) / 1000);
      if (done > 0 && (form === "bar" || form === "totals"))
        terminal.write(`${done} of ${total} checks evaluated in ${seconds} s\n`);
    },
  };
}

/** Fits as much as it can on one line, the most telling part first. Some terminals wrap at the last column, so it stays free. */
function barText(counts: ScanCounts, running: string | undefined, elapsedMs: number, columns: number): string {
  const { checks_done: done, checks_total: total } = counts;
  const barWidth = Math.min(24, Math.max(4, Math.floor(columns / 5)));
  const filled = total === 0 ? 0 : Math.round((done / total) * barWidth);
  const leftSeconds = done === 0 ? 0 : Math.ceil(((elapsedMs / done) * (total - done)) / 1000);
  const parts = [
    ` · ${outcomeText((state) => counts[state])}`,
    ...(leftSeconds === 0 ? [] : [` · about ${leftSeconds} s left`]),
    ...(running === undefined ? [] : [` · ${vulnIdOf(running)}`]),
  ];
  let text = `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${done}/${total}`;
  for (const part of parts) {
    if (textWidth(text) + textWidth(part) >= columns) break;
    text += part;
  }
  return text;
}

function resultLine(result: CheckResult, counts: ScanCounts, terminal: Terminal): string {
  const width = String(counts.checks_total).length;
  const position = `[${String(counts.checks_done).padStart(width)}/${counts.checks_total}]`;
  const reason = result.reason === null || result.reason === "not_applicable" ? "" : `(${result.reason}) `;
  const label = stateLabels[stateOf(result)];
  const rest = printable(`${result.vuln_id} ${reason}${result.title}`);
  return `${position} ${paintStatus(label.padEnd(6), label, terminal)} ${shorten(rest, resultColumns - position.length - 8)}`;
}

/** Output of `--verbose`, a line for each step; undefined without it. */
export function createTrace(
  { verbose }: { readonly verbose: boolean },
  write: (line: string) => void,
): ScanTrace | undefined {
  if (!verbose) return undefined;
  const nowMs = () => performance.now();
  // The path may hold identifiers of the provider.
  const say = (text: string) => write(printable(text));
  return {
    nowMs,
    requestEnded: ({ method, path, status, problem, ms }) =>
      say(`request ${method} ${path} ${status ?? `without an answer (${problem ?? "unknown"})`} ${duration(ms)}`),
    waitBegun: ({ reason, ms }) => say(`wait for the ${reason === "retry" ? "next attempt" : reason} ${duration(ms)}`),
    collected: (artifact, ms, outcome) =>
      say(`collected ${artifact} ${duration(ms)}${outcome === "obtained" ? "" : `, missing: ${outcome}`}`),
    evaluated: (check, ms) => say(`evaluated ${vulnIdOf(check)} ${duration(ms)}`),
  };
}

function duration(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}
