import { vulnIdOf } from "../../shared/rule_names.ts";
import type { CheckResult } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { stateLabels } from "../reports/result_text.ts";
import { outcomeText } from "../../shared/outcome_text.ts";
import type { ScanCounts } from "../streaming/scan_publisher.ts";
import { shorten } from "../../shared/text.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { paintStatus, printable, textWidth, type Terminal } from "../../command_line/terminal.ts";

/** Shows how far a scan is. */
export interface Progress {
  started(checks: readonly string[]): void;
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  /** A message in between; it never breaks the bar. */
  message(text: string): void;
  ended(): void;
}

export interface ProgressOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** The width of a terminal that does not report its columns. */
const defaultColumns = 80;

/** As the options say. */
export function newProgress(settings: { readonly quiet: boolean }, io: CommandIo): Progress {
  return settings.quiet
    ? createQuietProgress(io.terminal)
    : createProgress(io.terminal, { now: () => performance.now() });
}

/**
 * On a terminal a bar, which leaves one line of totals, because the report says the rest; elsewhere a plain line for each
 * check. The details are the report's in both cases.
 */
export function createProgress(terminal: Terminal, options: ProgressOptions): Progress {
  return terminal.isTTY ? createBar(terminal, options) : createLines(terminal);
}

/** Messages only: what `--quiet` leaves. */
export function createQuietProgress(terminal: Terminal): Progress {
  return { ...createLines(terminal), started: () => {}, checkEvaluated: () => {} };
}

/** Progress of a scan that runs with others: its totals, when it has ended. */
export function createTotals(terminal: Terminal, now: () => number = () => performance.now()): Progress {
  let counts: ScanCounts | null = null;
  let startedAtMs = now();
  return {
    ...createLines(terminal),
    started(checks) {
      startedAtMs = now();
      terminal.write(`Scanning: ${checks.length} checks\n`);
    },
    checkEvaluated: (_, newest) => void (counts = newest),
    ended() {
      if (counts !== null) terminal.write(totalsLine(counts, now() - startedAtMs));
    },
  };
}

function totalsLine(counts: ScanCounts, elapsedMs: number): string {
  const { checks_done: done, checks_total: total } = counts;
  return `${done} of ${total} checks evaluated in ${Math.ceil(elapsedMs / 1000)} s\n`;
}

function createLines(terminal: Terminal): Progress {
  return {
    started: (checks) => terminal.write(`Scanning: ${checks.length} checks\n`),
    checkEvaluated: (result, counts) => terminal.write(`${resultLine(result, counts, terminal)}\n`),
    message: (text) => terminal.write(`${text}\n`),
    ended: () => {},
  };
}

function createBar(terminal: Terminal, options: ProgressOptions): Progress {
  let waiting: readonly string[] = [];
  let counts: ScanCounts = { checks_done: 0, checks_total: 0, pass: 0, fail: 0, manual: 0, not_applicable: 0 };
  let startedAtMs = options.now();
  let isShown = false;

  function draw(): void {
    if (!isShown) return;
    const text = barText(counts, waiting[0], {
      elapsedMs: options.now() - startedAtMs,
      columns: terminal.columns || defaultColumns,
    });
    terminal.write(`\r\u001b[2K${text}`);
  }

  return {
    started(checks) {
      waiting = checks;
      counts = { ...counts, checks_total: checks.length };
      startedAtMs = options.now();
      isShown = true;
      draw();
    },
    checkEvaluated(result, newest) {
      waiting = waiting.filter((check) => check !== result.check);
      counts = newest;
      draw();
    },
    message(text) {
      terminal.write(`${isShown ? "\r\u001b[2K" : ""}${text}\n`);
      draw();
    },
    ended() {
      if (!isShown) return;
      isShown = false;
      const totals = counts.checks_done === 0 ? "" : totalsLine(counts, options.now() - startedAtMs);
      terminal.write(`\r\u001b[2K${totals}`);
    },
  };
}

interface BarOptions {
  readonly elapsedMs: number;
  readonly columns: number;
}

/** As much as fits one line, the most telling part first; the last column stays free, as some terminals wrap at it. */
function barText(counts: ScanCounts, running: string | undefined, { elapsedMs, columns }: BarOptions): string {
  const { checks_done: done, checks_total: total } = counts;
  const barWidth = Math.min(24, Math.max(4, Math.floor(columns / 5)));
  const filled = total === 0 ? 0 : Math.round((done / total) * barWidth);
  const leftSeconds = done === 0 ? 0 : Math.ceil(((elapsedMs / done) * (total - done)) / 1000);
  const parts = [
    ` · ${verdicts(counts)}`,
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

function verdicts(counts: ScanCounts): string {
  return outcomeText((state) => counts[state]);
}

function resultLine(result: CheckResult, counts: ScanCounts, terminal: Terminal): string {
  const width = String(counts.checks_total).length;
  const position = `[${String(counts.checks_done).padStart(width)}/${counts.checks_total}]`;
  const reason = result.reason === null || result.reason === "not_applicable" ? "" : `(${result.reason}) `;
  const label = stateLabels[stateOf(result)];
  const rest = printable(`${result.vuln_id} ${reason}${result.title}`);
  return `${position} ${paintStatus(label.padEnd(6), label, terminal)} ${shorten(rest, defaultColumns - position.length - 8)}`;
}
