import { stat } from "node:fs/promises";
import type { CheckResult } from "../../shared/report.ts";
import type { RuleNames } from "../../shared/rule_names.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import type { DecisionFileSource } from "./decision_file.ts";
import { applyDecisions, readDecisions, type DecisionFiles, type Decisions } from "./decisions.ts";
import { mergeDecisions, type FetchedDecision } from "./gateway_decisions.ts";

/** How often the gateway's decisions are read again. */
const fetchEveryMs = 60_000;

export interface ReadDecisionFiles {
  readonly decisions: Decisions;
  /** Null while the files are as they were read last. Rejects, once for each content, with `UsageError` where they cannot be used. */
  readChanged(): Promise<Decisions | null>;
}

/** Reads the files. Rejects with `UsageError` where one cannot be used. */
export async function createDecisionFiles({
  files,
  ...known
}: { readonly files: DecisionFiles } & Pick<DecisionFileSource, "rules" | "warn">): Promise<ReadDecisionFiles> {
  const paths = [files.waiversFile, files.attestationsFile].filter((path) => path !== null);
  // Noted before they are read, so that a change in between is seen.
  let read = await Promise.all(paths.map(stampOf));
  // A pipe can be read once.
  const isWatched = read.every((stamp) => stamp !== null);
  return { decisions: await readDecisions(files, known), readChanged };

  async function readChanged(): Promise<Decisions | null> {
    if (!isWatched) return null;
    const now = await Promise.all(paths.map(stampOf));
    if (now.join() === read.join()) return null;
    read = now;
    return readDecisions(files, known);
  }
}

/** Null for anything but a file. */
async function stampOf(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true ? `${found.mtimeMs} ${found.size} ${found.ino}` : null;
}

export interface FollowedDecisionsOptions {
  readonly files: ReadDecisionFiles;
  /** Those of the gateway; null: they are not asked for. */
  readonly fetch: (() => Promise<readonly FetchedDecision[]>) | null;
  readonly rules: readonly RuleNames[];
  readonly say: (text: string) => void;
  readonly nowMs: number;
}

/** The decisions of files and gateway, kept as they are at present. What cannot be read again leaves the old ones in force. */
export class FollowedDecisions {
  readonly #options: FollowedDecisionsOptions;
  readonly #said = new Set<string>();
  #ofFiles: Decisions;
  #ofGateway: readonly FetchedDecision[];
  #current: Decisions;
  #atMs: number;
  #fetchedMs: number;
  #isFetching = false;
  #isUnreadable = false;
  #fetched: readonly FetchedDecision[] | null = null;

  private constructor(options: FollowedDecisionsOptions, ofGateway: readonly FetchedDecision[]) {
    this.#options = options;
    this.#ofFiles = options.files.decisions;
    this.#ofGateway = ofGateway;
    this.#atMs = options.nowMs;
    this.#fetchedMs = options.nowMs;
    this.#current = this.#merge();
  }

  /** Rejects with `UsageError` where the gateway's decisions cannot be read: nothing is followed without them. */
  static async start(options: FollowedDecisionsOptions): Promise<FollowedDecisions> {
    return new FollowedDecisions(options, (await options.fetch?.()) ?? []);
  }

  apply(results: readonly CheckResult[], nowMs: number): readonly CheckResult[] {
    return applyDecisions(results, this.#current, nowMs).results;
  }

  /** True when others are in force than at the call before. The gateway is not waited for: what it answers counts from the next call on. */
  async refresh(nowMs: number): Promise<boolean> {
    const isRead = await this.#readFiles();
    const isFetched = this.#takeFetched();
    this.#fetchWhenDue(nowMs);
    const beforeMs = this.#atMs;
    this.#atMs = nowMs;
    const hasEnded = [...this.#current.waivers, ...this.#current.attestations].some(
      ({ expires = null }) => isExpired(expires, beforeMs) !== isExpired(expires, nowMs),
    );
    if (!isRead && !isFetched && !hasEnded) return false;
    this.#current = this.#merge();
    return true;
  }

  async #readFiles(): Promise<boolean> {
    try {
      const changed = await this.#options.files.readChanged();
      if (changed !== null) this.#ofFiles = changed;
      return changed !== null;
    } catch (error) {
      this.#options.say(`${messageOf(error)}. The decisions that were read before stay in force`);
      return false;
    }
  }

  #takeFetched(): boolean {
    const fetched = this.#fetched;
    this.#fetched = null;
    if (fetched === null || JSON.stringify(fetched) === JSON.stringify(this.#ofGateway)) return false;
    this.#ofGateway = fetched;
    return true;
  }

  #fetchWhenDue(nowMs: number): void {
    const { fetch, say } = this.#options;
    if (fetch === null || this.#isFetching || Math.abs(nowMs - this.#fetchedMs) < fetchEveryMs) return;
    this.#fetchedMs = nowMs;
    this.#isFetching = true;
    void fetch()
      .then(
        (fetched) => {
          this.#fetched = fetched;
          this.#isUnreadable = false;
        },
        (error: unknown) => {
          if (!this.#isUnreadable) say(`${messageOf(error)}. The gateway's decisions of before stay in force`);
          this.#isUnreadable = true;
        },
      )
      .finally(() => {
        this.#isFetching = false;
      });
  }

  /** Says what does not count, each only once. */
  #merge(): Decisions {
    const { rules, say } = this.#options;
    const { decisions, warnings } = mergeDecisions(this.#ofFiles, this.#ofGateway, { rules, nowMs: this.#atMs });
    for (const warning of warnings) {
      if (!this.#said.has(warning)) say(warning);
      this.#said.add(warning);
    }
    return decisions;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
