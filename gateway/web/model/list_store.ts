import { pause } from "../../../shared/abortable.ts";
import type { Page } from "../scan_wire.ts";
import { ApiError, type PageRequest } from "./api.ts";

/** The tenant's scans or monitors, newest first, polled while the page is visible. */
export interface ListStore<Item> {
  readonly items: readonly Item[];
  readonly isLoaded: boolean;
  /** Why the last reading failed; the items are then as they were. */
  readonly problem: string | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
  /** Takes what the open stream knows, which is newer. */
  put(item: Item): void;
  refreshNow(): void;
  close(): void;
}

interface ListItem {
  readonly id: string;
  readonly createdAtMs: number | null;
}

/** Where a list comes from. */
export interface ListSource<Item extends ListItem> {
  list(request: PageRequest): Promise<Page<Item>>;
  get(id: string, signal: AbortSignal): Promise<Item>;
  isEnded(item: Item): boolean;
  /** Of two readings, of which neither need be the newer. */
  merge(known: Item, next: Item): Item;
  readonly refreshEveryMs: number;
}

const pageLimit = 50;
const longestPauseMs = 30_000;
/** Unfinished ones beyond the first page are read one by one, at most so many in one round. */
const maxSingleReads = 5;

export function createListStore<Item extends ListItem>(
  source: ListSource<Item>,
  onChange: () => void,
): ListStore<Item> {
  const closing = new AbortController();
  const { signal } = closing;
  const items = new Map<string, Item>();
  let sorted: readonly Item[] = [];
  let isLoaded = false;
  let problem: string | null = null;
  let nextCursor: string | null = null;
  let isLoadingMore = false;
  let waking = new AbortController();

  function put(item: Item): void {
    const known = items.get(item.id);
    items.set(item.id, known === undefined ? item : source.merge(known, item));
  }

  function changed(): void {
    sorted = [...items.values()].sort((a, b) => (b.createdAtMs ?? 0) - (a.createdAtMs ?? 0) || (a.id < b.id ? 1 : -1));
    onChange();
  }

  async function refresh(): Promise<void> {
    const page = await source.list({ limit: pageLimit, cursor: null, signal });
    const isConnected = page.items.some(({ id }) => items.has(id));
    if (!isConnected) {
      // More are new than fit on a page: between them and the known ones is a gap, so the list starts afresh.
      items.clear();
      nextCursor = page.nextCursor;
    }
    const listed = new Set(page.items.map(({ id }) => id));
    for (const item of page.items) put(item);
    if (page.nextCursor === null) {
      // This is all there is: what is not listed was deleted.
      for (const id of items.keys()) if (!listed.has(id)) items.delete(id);
      return;
    }
    const unlisted = sorted.filter((item) => items.has(item.id) && !listed.has(item.id) && !source.isEnded(item));
    for (const { id } of unlisted.slice(0, maxSingleReads)) put(await source.get(id, signal));
  }

  async function poll(): Promise<void> {
    let pauseMs = source.refreshEveryMs;
    while (!signal.aborted) {
      if (document.visibilityState === "visible") {
        try {
          await refresh();
          isLoaded = true;
          problem = null;
          pauseMs = source.refreshEveryMs;
        } catch (error) {
          if (signal.aborted) return;
          problem = error instanceof ApiError ? error.message : "The answer could not be read";
          pauseMs = Math.min(longestPauseMs, pauseMs * 2);
        }
        changed();
      }
      waking = new AbortController();
      await pause(pauseMs, [signal, waking.signal]);
    }
  }

  async function loadMore(): Promise<void> {
    if (isLoadingMore || nextCursor === null) return;
    isLoadingMore = true;
    changed();
    try {
      const page = await source.list({ limit: pageLimit, cursor: nextCursor, signal });
      for (const item of page.items) put(item);
      nextCursor = page.nextCursor;
    } catch (error) {
      if (signal.aborted) return;
      problem = error instanceof ApiError ? error.message : "The answer could not be read";
    }
    isLoadingMore = false;
    changed();
  }

  const refreshNow = () => waking.abort();
  document.addEventListener("visibilitychange", refreshNow, { signal });
  addEventListener("online", refreshNow, { signal });
  void poll();
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
      put(item);
      changed();
    },
    refreshNow,
    close: () => closing.abort(),
  };
}
