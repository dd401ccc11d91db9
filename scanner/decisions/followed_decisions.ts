import { stampOf } from "../../command_line/files.ts";
import type { CheckResult } from "../../shared/report.ts";
import type { RuleNames } from "../../shared/rule_names.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import type { DecisionFileSource } from "./decision_file.ts";
import { applyDecisions, type Decisions } from "./apply_decisions.ts";
import { readDecisions, type DecisionFiles } from "./decisions.ts";
import { mergeDecisions, type FetchedDecision } from "./gateway_decisions.ts";

/** How often the gateway's decisions are read again. */
const fetchEveryMs = 60_000;

export type ReadDecisionFiles = Awaited<ReturnType<typeof createDecisionFiles>>;

/** Reads the files. Rejects with `UsageError` where one cannot be used. */
export async function createDecisionFiles({
  files,
  ...known
}: { readonly files: DecisionFiles } & Pick<DecisionFileSource, "rules" | "warn">) {
  const path = files.decisions?.file;
  // Noted before it is read, so that a change in between is seen.
  let read = path === undefined ? null : await stampOf(path);
  return { decisions: await readDecisions(files, known), readChanged };

  /** Null while the files are as they were read last. Rejects, once for each content, with `UsageError` where they cannot be used. */
  async function readChanged(): Promise<Decisions | null> {
    // A pipe can be read once.
    if (path === undefined || read === null) return null;
    const now = await stampOf(path);
    if (now === read) return null;
    read = now ?? "gone";
    return readDecisions(files, known);
  }
}

export interface FollowedDecisionsOptions {
  readonly files: ReadDecisionFiles;
  /** Those of the gateway; null: they are not asked for. */
  readonly fetch: (() => Promise<readonly FetchedDecision[]>) | null;
  readonly rules: readonly RuleNames[];
  readonly say: (text: string) => void;
  readonly nowMs: number;
}

/**
 * The decisions of files and gateway, kept as they are at present. What cannot be read again leaves the old ones in force. Rejects
 * with `UsageError` where the gateway's cannot be read at the start: nothing is followed without them.
 */
export async function followDecisions({ files, fetch, rules, say, nowMs }: FollowedDecisionsOptions) {
  let ofFiles = files.decisions;
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
      const isRead = await readFiles();
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

  async function readFiles(): Promise<boolean> {
    try {
      const changed = await files.readChanged();
      ofFiles = changed ?? ofFiles;
      return changed !== null;
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
    const { decisions, warnings } = mergeDecisions(ofFiles, ofGateway, { rules, nowMs: atMs });
    for (const warning of warnings) say(warning);
    return decisions;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
