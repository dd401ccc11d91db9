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
  /** What is there when the stream opens: all that have not ended, then the newest of all. Older ones are read again. */
  replace(unended: readonly Item[], newest: Page<Item>): void;
  add(item: Item): void;
  remove(id: unknown): void;
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
    replace(unended, newest) {
      const present = new Set([...unended, ...newest.items].map(({ id }) => id));
      for (const id of items.keys()) if (!present.has(id)) items.delete(id);
      nextCursor = newest.nextCursor;
      for (const item of [...unended, ...newest.items]) merge(item);
      isLoaded = true;
      problem = null;
      changed();
    },
    add(item) {
      merge(item);
      changed();
    },
    remove(id) {
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
