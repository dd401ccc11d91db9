import { appendFileSync, statSync } from "node:fs";
import { explainWriteError } from "../../command_line/files.ts";
import { dayMs, startOfDay } from "../../shared/history/days.ts";
import type { WatchLine } from "../../shared/schemas/history.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { ChangeLine } from "../follow/changes.ts";
import type { Signer } from "../signing/keys.ts";
import { signFiles } from "../signing/sign_files.ts";
import type { StatementFacts } from "../signing/statement.ts";

export interface ChangeFileOptions {
  readonly path: string;
  /** Null: it is not signed. */
  readonly signer: Signer | null;
  /** Facts of the statement about the file, for a time at which it is signed. */
  readonly factsAt: (nowMs: number) => StatementFacts;
  readonly nowMs: () => number;
  /** A message for a person. */
  readonly say: (text: string) => void;
}

/** The file of `follow --output`, which grows: it is signed at each UTC midnight and at the end. */
export class ChangeFile {
  readonly #options: ChangeFileOptions;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #signed: Promise<void> = Promise.resolve();
  #isBroken = false;
  #isEmpty = true;

  /** Throws `UsageError` where it cannot be written. */
  constructor(options: ChangeFileOptions) {
    this.#options = options;
    try {
      appendFileSync(options.path, "");
      this.#isEmpty = statSync(options.path).size === 0;
    } catch (error) {
      throw new UsageError([explainWriteError(`--output ${JSON.stringify(options.path)}`, error)]);
    }
    if (options.signer !== null) this.#waitForMidnight();
  }

  /** Lines that a new file has to begin with, where the follower goes on from a saved state. */
  begin(lines: readonly ChangeLine[]): void {
    if (this.#isEmpty) this.append(lines);
  }

  /** A disk that is full must not end the watch: said once, until it can be written again. */
  append(lines: readonly (ChangeLine | WatchLine)[]): void {
    const { path, say } = this.#options;
    try {
      appendFileSync(path, lines.map((line) => `${toPrintableJson(line)}\n`).join(""));
      this.#isBroken = false;
      this.#isEmpty &&= lines.length === 0;
    } catch (error) {
      if (!this.#isBroken) say(explainWriteError(`--output ${JSON.stringify(path)}`, error));
      this.#isBroken = true;
    }
  }

  /** Signs what is there for the last time. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#sign();
    await this.#signed;
  }

  #waitForMidnight(): void {
    const nowMs = this.#options.nowMs();
    this.#timer = setTimeout(
      () => {
        this.#sign();
        this.#waitForMidnight();
      },
      startOfDay(nowMs) + dayMs - nowMs,
    );
    this.#timer.unref();
  }

  /** One after the other: both write the same file. */
  #sign(): void {
    const { path, signer, factsAt, nowMs, say } = this.#options;
    if (signer === null) return;
    this.#signed = this.#signed.then(async () => {
      try {
        const { problems } = await signFiles([path], factsAt(nowMs()), { signer, name: null });
        for (const problem of problems) say(problem);
      } catch (error) {
        say(`${path} cannot be signed: ${error instanceof Error ? error.message : "unknown"}`);
      }
    });
  }
}
