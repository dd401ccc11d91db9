import type { Clock } from "../okta/clock.ts";
import type { PageReader } from "../okta/idp_client.ts";
import type { FollowState } from "./follow_state.ts";
import { createLogReader, type LogReader, type LogReading } from "./log_reader.ts";
import type { PollError, PollResult } from "../streaming/monitor_updates.ts";

/** The log is read from so long before the start: this machine's clock may be ahead of the provider's. */
const startMarginMs = 300_000;
/** The provider keeps its log for 90 days. */
const maxCursorAgeMs = 89 * 86_400_000;

const maxSaidProblems = 3;

export interface LogWatchOptions {
  readonly clock: Clock;
  /** A message for a person. */
  readonly say: (text: string) => void;
  readonly reconcileMs: number;
  readonly saved: Pick<FollowState, "cursor" | "lastLookAt" | "seen"> | null;
}

/** Reads the System Log from where it was left, and knows whether it can be read: that is said whenever it changes. */
export class LogWatch {
  readonly #options: LogWatchOptions;
  #reader: LogReader | null = null;
  #cursor: string | null;
  #lookedMs: number | null;
  #status: PollResult["logStatus"] = "unknown";
  #isForbidden = false;
  #error: PollError | null = null;
  #saidProblems = "";

  constructor(options: LogWatchOptions) {
    const { saved } = options;
    this.#options = options;
    this.#cursor = saved?.cursor ?? null;
    this.#lookedMs = typeof saved?.lastLookAt === "string" ? Date.parse(saved.lastLookAt) : null;
  }

  /** Reads through another connection from now on, which may be allowed to. */
  connect(pages: PageReader): void {
    this.#isForbidden = false;
    this.#reader = createLogReader({ pages, seen: this.#seen() });
  }

  /** It was refused: to be asked for again at a reconciliation. */
  get isForbidden(): boolean {
    return this.#isForbidden;
  }

  get hasCursor(): boolean {
    return this.#cursor !== null;
  }

  /** True when what happened since the last look can still be read. */
  isKept(nowMs: number): boolean {
    return this.#cursor !== null && (this.#lookedMs === null || nowMs - this.#lookedMs <= maxCursorAgeMs);
  }

  /** When the log was last read to its end. */
  get lookedMs(): number | null {
    return this.#lookedMs;
  }

  /** Takes a cursor at the log's present end; false where it cannot be read. */
  async begin(): Promise<boolean> {
    this.#cursor = null;
    if (this.#reader === null) return false;
    const reading = this.#noted(await this.#reader.begin(this.#options.clock.nowMs() - startMarginMs));
    if (reading.kind !== "events") return false;
    this.#cursor = reading.cursor;
    return true;
  }

  /** Reads the entries since the cursor. The cursor stays until `advance`. */
  async read(): Promise<LogReading> {
    if (this.#reader === null || this.#cursor === null) return { kind: "failed", detail: "There is no connection" };
    return this.#noted(await this.#reader.read(this.#cursor));
  }

  advance(cursor: string): void {
    this.#cursor = cursor;
  }

  /** Says that the log between the two times cannot be read any more. */
  reportGap(fromMs: number, toMs: number): void {
    const gap = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
    const detail = `The System Log could not be read from where it was left: what happened from ${gap.from} to ${gap.to} is known by a full scan only, not by whom`;
    this.#error = { code: "log_gap", detail, gap };
    this.#options.say(detail);
  }

  clearGap(): void {
    this.#error = null;
  }

  status(): Pick<PollResult, "logStatus" | "error"> {
    return { logStatus: this.#status, error: this.#error };
  }

  toSave(): Pick<FollowState, "cursor" | "lastLookAt" | "seen"> {
    const lastLookAt = this.#lookedMs === null ? null : new Date(this.#lookedMs).toISOString();
    return { cursor: this.#cursor, lastLookAt, seen: this.#seen() };
  }

  #seen(): readonly string[] {
    return this.#reader?.seen() ?? this.#options.saved?.seen ?? [];
  }

  /** Once, where the same page is read again because it names no next one. */
  #sayProblems(problems: readonly string[]): void {
    if (problems.length === 0) return;
    const more = problems.length > maxSaidProblems ? `; and ${problems.length - maxSaidProblems} more` : "";
    const text = `The System Log has entries that cannot be read in full: ${problems.slice(0, maxSaidProblems).join("; ")}${more}. What they changed is found by the next full scan at the latest`;
    if (text !== this.#saidProblems) this.#options.say(text);
    this.#saidProblems = text;
  }

  #noted(reading: LogReading): LogReading {
    const { say, clock, reconcileMs } = this.#options;
    if (reading.kind === "events") {
      if (this.#status === "unreadable") say("The System Log can be read again");
      this.#status = "reading";
      this.#isForbidden = false;
      this.#error = null;
      this.#lookedMs = clock.nowMs();
      this.#sayProblems(reading.problems);
      return reading;
    }
    if (reading.kind === "lost") return reading;
    this.#isForbidden = reading.kind === "forbidden";
    const code = this.#isForbidden ? "log_forbidden" : "log_unreadable";
    const detail = `The System Log cannot be read, so changes are found by a full scan every ${reconcileMs / 3_600_000} h only: ${reading.detail}`;
    if (this.#error?.code !== code) say(detail);
    this.#error = { code, detail };
    this.#status = "unreadable";
    return reading;
  }
}
