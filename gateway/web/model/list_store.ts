import type { Page } from "../scan_wire.ts";
import type { PageRequest } from "./api.ts";
import { toProblem } from "./connection.ts";

/** The tenant's scans or monitors, newest first: the newest and all that have not ended, and older ones a page at a time. */
export interface ListStore<Item> {
  readonly items: readonly Item[];
  readonly isLoaded: boolean;
  /** Why older ones could not be read. */
  readonly problem: string | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
  /** Takes what the stream of the one that is looked at knows, which is newer. */
  put(item: Item): void;
}

/** The side of the list that the tenant's stream writes. */
export interface LiveList<Item> extends ListStore<Item> {
  /** What is there when the stream opens: all that have not ended, then the newest of all. `deletedCount`: as of `resume`, where it is known. */
  replace(unended: readonly Item[], newest: Page<Item>, deletedCount?: number): void;
  /**
   * As `replace`, without the newest page: false, and nothing taken, where one may have ended or come and ended unseen.
   * `newestEndedId`: of the ones that have ended the one that was created last. `deletedCount`: how many were deleted so far.
   */
  resume(
    unended: readonly Item[],
    ends: { readonly newestEndedId: string | null; readonly deletedCount: number },
  ): boolean;
  add(item: Item): void;
  /** `deletedCount`: how many were deleted with this one, where it is known. */
  remove(id: unknown, deletedCount?: number | null): void;
  /** False: it is not listed. */
  change(id: unknown, toChanged: (item: Item) => Item): boolean;
}

interface ListItem {
  readonly id: string;
  readonly createdAtMs: number | null;
}

/** Where a list comes from. */
export interface ListSource<Item extends ListItem> {
  list(request: PageRequest): Promise<Page<Item>>;
  isEnded(item: Item): boolean;
  /** Merges two snapshots; either may be newer. */
  merge(known: Item, next: Item): Item;
}

export const listPageLimit = 50;

export function createListStore<Item extends ListItem>(
  source: ListSource<Item>,
  onChange: () => void,
  signal: AbortSignal,
): LiveList<Item> {
  const items = new Map<string, Item>();
  let sorted: readonly Item[] = [];
  let isLoaded = false;
  /** As many deletions are in the list, those of events included; null: not known. */
  let seenDeletions: number | null = null;
  let problem: string | null = null;
  let nextCursor: string | null = null;
  let isLoadingMore = false;

  function merge(item: Item): void {
    const known = items.get(item.id);
    items.set(item.id, known === undefined ? item : source.merge(known, item));
  }

  function changed(): void {
    sorted = [...items.values()].sort((a, b) => (b.createdAtMs ?? 0) - (a.createdAtMs ?? 0) || (a.id < b.id ? 1 : -1));
    onChange();
  }

  async function loadMore(): Promise<void> {
    if (isLoadingMore || nextCursor === null) return;
    isLoadingMore = true;
    problem = null;
    onChange();
    try {
      const cursor = nextCursor;
      const page = await source.list({ limit: listPageLimit, cursor, signal });
      // Else the list began again in the meantime.
      if (cursor === nextCursor) {
        for (const item of page.items) merge(item);
        nextCursor = page.nextCursor;
      }
    } catch (error) {
      if (signal.aborted) return;
      problem = toProblem(error);
    }
    isLoadingMore = false;
    changed();
  }

  return {
    get items() {
      return sorted;
    },
    get isLoaded() {
      return isLoaded;
    },
    get problem() {
      return problem;
    },
    get hasMore() {
      return nextCursor !== null;
    },
    get isLoadingMore() {
      return isLoadingMore;
    },
    loadMore: () => void loadMore(),
    put(item) {
      // Only what is listed: an older one opened by its link has its place further down.
      if (!items.has(item.id)) return;
      merge(item);
      changed();
    },
    replace(unended, newest, deletedCount) {
      // Among the ones that were deleted in the meantime, older pages may still hold some.
      const hasMissedDeletion = deletedCount !== undefined && deletedCount !== seenDeletions;
      seenDeletions = deletedCount ?? null;
      const present = new Set([...unended, ...newest.items].map(({ id }) => id));
      const isWhole = newest.nextCursor === null;
      const isConnected = newest.items.some(({ id }) => items.has(id));
      const isEachKnown = [...items.values()].every((item) => present.has(item.id) || source.isEnded(item));
      if (isWhole || !isConnected || !isEachKnown || hasMissedDeletion) {
        // Some were deleted, or ended unseen, or between these and the known ones is a gap: older ones are read again.
        for (const id of items.keys()) if (!present.has(id)) items.delete(id);
        nextCursor = newest.nextCursor;
      }
      for (const item of [...unended, ...newest.items]) merge(item);
      isLoaded = true;
      problem = null;
      changed();
    },
    resume(unended, { newestEndedId, deletedCount }) {
      const present = new Set(unended.map(({ id }) => id));
      const newestEnded = newestEndedId === null ? undefined : items.get(newestEndedId);
      const isEndKnown = newestEnded === undefined ? newestEndedId === null : source.isEnded(newestEnded);
      const isEachKnown = [...items.values()].every((item) => present.has(item.id) || source.isEnded(item));
      if (!isLoaded || !isEndKnown || !isEachKnown || deletedCount !== seenDeletions) return false;
      for (const item of unended) merge(item);
      problem = null;
      changed();
      return true;
    },
    add(item) {
      merge(item);
      changed();
    },
    remove(id, deletedCount = null) {
      seenDeletions = nextDeletions(seenDeletions, deletedCount);
      if (typeof id === "string" && items.delete(id)) changed();
    },
    change(id, toChanged) {
      const known = typeof id === "string" ? items.get(id) : undefined;
      if (known === undefined) return false;
      items.set(known.id, toChanged(known));
      changed();
      return true;
    },
  };
}

/** Null, and so no match for any count, where a deletion before this one is still to come, or was missed. */
function nextDeletions(seen: number | null, deletedCount: number | null): number | null {
  if (seen === null || deletedCount === null || deletedCount > seen + 1) return null;
  return Math.max(seen, deletedCount);
}
