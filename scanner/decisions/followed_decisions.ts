import { isDeepStrictEqual } from "node:util";
import type { NamedFile } from "../../command_line/files.ts";
import type { CheckResult } from "../../shared/report.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import { readDecisions, type DecisionFileSource, mergeDecisions, type FetchedDecision } from "./decision_sources.ts";
import { applyDecisions } from "./apply_decisions.ts";
import { followFile } from "./option_file.ts";

/** How often the gateway's decisions are read again. */
const fetchEveryMs = 60_000;

interface FollowedDecisionsOptions extends Pick<DecisionFileSource, "rules"> {
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
export async function followDecisions({ file, fetch, rules, say, nowMs }: FollowedDecisionsOptions) {
  const ofFile = await followFile(
    file,
    () => readDecisions({ decisions: file, baseline: null }, { rules, warn: say }),
    (problem) => say(`${problem}. The decisions that were read before stay in force`),
  );
  let ofGateway = (await fetch?.()) ?? [];
  let fetchedMs = nowMs;
  let isUnreadable = false;
  const said = new Set<string>();
  let current = merge(nowMs);
  return {
    apply: (results: readonly CheckResult[], atMs: number) => applyDecisions(results, current.decisions, atMs).results,

    /** True when others are in force than at the call before. The gateway is not waited for: its answer counts from the next call on. */
    async refresh(atMs: number): Promise<boolean> {
      await ofFile.refresh();
      if (fetch !== null && Math.abs(atMs - fetchedMs) >= fetchEveryMs) {
        fetchedMs = atMs;
        void fetchAgain(fetch);
      }
      const before = current;
      current = merge(atMs);
      return !isDeepStrictEqual(current.inForce, before.inForce);
    },
  };

  async function fetchAgain(read: () => Promise<readonly FetchedDecision[]>): Promise<void> {
    try {
      ofGateway = await read();
      isUnreadable = false;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (!isUnreadable) say(`${problem}. The gateway's decisions of before stay in force`);
      isUnreadable = true;
    }
  }

  function merge(atMs: number) {
    const { decisions, warnings } = mergeDecisions(ofFile.current(), ofGateway, { rules, nowMs: atMs });
    for (const warning of warnings.filter((text) => !said.has(text))) {
      said.add(warning);
      say(warning);
    }
    const all = [...decisions.waivers, ...decisions.attestations];
    return { decisions, inForce: all.filter(({ expires = null }) => !isExpired(expires, atMs)) };
  }
}
