import { stampOf, type NamedFile } from "../../command_line/files.ts";
import type { CheckResult } from "../../shared/report.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import type { DecisionFileSource } from "./decision_file.ts";
import { applyDecisions, type Decisions } from "./apply_decisions.ts";
import { readDecisions } from "./decisions.ts";
import { mergeDecisions, type FetchedDecision } from "./gateway_decisions.ts";

/** How often the gateway's decisions are read again. */
const fetchEveryMs = 60_000;

export interface FollowedDecisionsOptions extends Pick<DecisionFileSource, "rules" | "warn"> {
  /** That of `--decisions`; null: none was given. */
  readonly file: NamedFile | null;
  /** Those of the gateway; null: they are not asked for. */
  readonly fetch: (() => Promise<readonly FetchedDecision[]>) | null;
  readonly say: (text: string) => void;
  readonly nowMs: number;
}

/**
 * The decisions of file and gateway, kept as they are at present. What cannot be read again leaves the old ones in force. Rejects
 * with `UsageError` where one of them cannot be read at the start: nothing is followed without them.
 */
export async function followDecisions({ file, fetch, say, nowMs, ...known }: FollowedDecisionsOptions) {
  // Noted before the file is read, so that a change in between is seen. A pipe, which can be read once, has none.
  let stamp = file === null ? null : await stampOf(file.file);
  let ofFile = await readDecisions({ decisions: file, baseline: null }, known);
  let ofGateway = (await fetch?.()) ?? [];
  let current = merge(nowMs);
  let checkedMs = nowMs;
  let fetchedMs = nowMs;
  let isFetched = false;
  let isUnreadable = false;
  return {
    apply: (results: readonly CheckResult[], atMs: number) => applyDecisions(results, current, atMs).results,

    /** True when others are in force than at the call before. The gateway is not waited for: its answer counts from the next call on. */
    async refresh(atMs: number): Promise<boolean> {
      const isRead = await readFile();
      if (fetch !== null && Math.abs(atMs - fetchedMs) >= fetchEveryMs) {
        fetchedMs = atMs;
        void fetchAgain(fetch);
      }
      const isOver = [...current.waivers, ...current.attestations].some(
        ({ expires = null }) => isExpired(expires, checkedMs) !== isExpired(expires, atMs),
      );
      checkedMs = atMs;
      if (!isRead && !isFetched && !isOver) return false;
      isFetched = false;
      current = merge(atMs);
      return true;
    },
  };

  /** True where the file is not as it was read last. One that cannot be used is said once for each content. */
  async function readFile(): Promise<boolean> {
    if (file === null || stamp === null) return false;
    const now = await stampOf(file.file);
    if (now === stamp) return false;
    stamp = now ?? "gone";
    try {
      ofFile = await readDecisions({ decisions: file, baseline: null }, known);
      return true;
    } catch (error) {
      say(`${messageOf(error)}. The decisions that were read before stay in force`);
      return false;
    }
  }

  async function fetchAgain(read: () => Promise<readonly FetchedDecision[]>): Promise<void> {
    try {
      const fetched = await read();
      isFetched ||= JSON.stringify(fetched) !== JSON.stringify(ofGateway);
      ofGateway = fetched;
      isUnreadable = false;
    } catch (error) {
      if (!isUnreadable) say(`${messageOf(error)}. The gateway's decisions of before stay in force`);
      isUnreadable = true;
    }
  }

  function merge(atMs: number): Decisions {
    const { decisions, warnings } = mergeDecisions(ofFile, ofGateway, { rules: known.rules, nowMs: atMs });
    for (const warning of warnings) say(warning);
    return decisions;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
