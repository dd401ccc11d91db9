import type { NamedFile } from "../../command_line/files.ts";
import type { CheckResult } from "../../shared/report.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import type { DecisionFileSource } from "./decision_file.ts";
import { applyDecisions, type Decisions } from "./apply_decisions.ts";
import { followFile } from "./followed_file.ts";
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

export type FollowedDecisions = Awaited<ReturnType<typeof followDecisions>>;

/**
 * The decisions of file and gateway, kept as they are at present. What cannot be read again leaves the old ones in force. Rejects
 * with `UsageError` where one of them cannot be read at the start: nothing is followed without them.
 */
export async function followDecisions({ file, fetch, say, nowMs, ...known }: FollowedDecisionsOptions) {
  const ofFile = await followFile(
    file,
    () => readDecisions({ decisions: file, baseline: null }, known),
    (problem) => say(`${problem}. The decisions that were read before stay in force`),
  );
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
      const isRead = await ofFile.refresh();
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

  async function fetchAgain(read: () => Promise<readonly FetchedDecision[]>): Promise<void> {
    try {
      const fetched = await read();
      isFetched ||= JSON.stringify(fetched) !== JSON.stringify(ofGateway);
      ofGateway = fetched;
      isUnreadable = false;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (!isUnreadable) say(`${problem}. The gateway's decisions of before stay in force`);
      isUnreadable = true;
    }
  }

  function merge(atMs: number): Decisions {
    const { decisions, warnings } = mergeDecisions(ofFile.current(), ofGateway, { rules: known.rules, nowMs: atMs });
    for (const warning of warnings) say(warning);
    return decisions;
  }
}
