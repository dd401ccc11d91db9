import type { CheckResult } from "../shared/report.ts";
import type { ScanCounts } from "./outbox.ts";
import { paintStatus, printable, type Terminal } from "./terminal.ts";

/** Tells a person how far a scan is. */
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

const barWidth = 24;

/** A bar on a terminal, plain lines elsewhere. */
export function createProgress(terminal: Terminal, options: ProgressOptions): Progress {
  return terminal.isTTY ? createBar(terminal, options) : createLines(terminal);
}

/** Messages only: what `--quiet` leaves. */
export function createQuietProgress(terminal: Terminal): Progress {
  return { ...createLines(terminal), started: () => {}, checkEvaluated: () => {} };
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
  let counts: ScanCounts = { checks_done: 0, checks_total: 0, pass: 0, fail: 0, manual: 0 };
  let startedAtMs = options.now();
  let isShown = false;

  function above(text: string): void {
    terminal.write(`${isShown ? "\r\u001b[2K" : ""}${text}\n`);
    draw();
  }

  function draw(): void {
    if (!isShown) return;
    const text = barText(counts, waiting[0], options.now() - startedAtMs);
    terminal.write(`\r\u001b[2K${text.slice(0, terminal.columns - 1)}`);
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
      above(resultLine(result, newest, terminal));
    },
    message: above,
    ended() {
      if (isShown) terminal.write("\r\u001b[2K");
      isShown = false;
    },
  };
}

function barText(counts: ScanCounts, running: string | undefined, elapsedMs: number): string {
  const { checks_done: done, checks_total: total } = counts;
  const filled = total === 0 ? 0 : Math.round((done / total) * barWidth);
  const leftSeconds = done === 0 ? null : Math.ceil(((elapsedMs / done) * (total - done)) / 1000);
  const left = leftSeconds === null || leftSeconds === 0 ? "" : ` · about ${leftSeconds} s left`;
  const verdicts = `${counts.pass} passed, ${counts.fail} failed, ${counts.manual} manual`;
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${done}/${total} · ${verdicts}${left}${running === undefined ? "" : ` · ${running}`}`;
}

function resultLine(result: CheckResult, counts: ScanCounts, terminal: Terminal): string {
  const width = String(counts.checks_total).length;
  const position = `[${String(counts.checks_done).padStart(width)}/${counts.checks_total}]`;
  const reason = result.reason === null ? "" : ` (${result.reason})`;
  return `${position} ${paintStatus(result.status.padEnd(6), result.status, terminal)} ${result.check}${reason}: ${printable(result.detail)}`;
}
