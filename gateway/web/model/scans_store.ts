import { pause } from "../../../shared/abortable.ts";
import { ApiError, type Api } from "./api.ts";
import { mergeScan } from "./scan_model.ts";
import { isEnded, type Scan } from "../scan_wire.ts";

/** The tenant's scans, newest first, polled while the page is visible. */
export interface ScansStore {
  readonly scans: readonly Scan[];
  readonly isLoaded: boolean;
  /** Why the last reading failed; the scans are then as they were. */
  readonly problem: string | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
  /** Takes what the open stream knows, which is newer. */
  put(scan: Scan): void;
  refreshNow(): void;
  close(): void;
}

const pageLimit = 50;
const refreshEveryMs = 3000;
const longestPauseMs = 30_000;
/** Unfinished scans beyond the first page are read one by one, at most so many in one round. */
const maxSingleReads = 5;

export function createScansStore(api: Api, onChange: () => void): ScansStore {
  const closing = new AbortController();
  const { signal } = closing;
  const scans = new Map<string, Scan>();
  let sorted: readonly Scan[] = [];
  let isLoaded = false;
  let problem: string | null = null;
  let nextCursor: string | null = null;
  let isLoadingMore = false;
  let waking = new AbortController();

  function put(scan: Scan): void {
    const known = scans.get(scan.id);
    scans.set(scan.id, known === undefined ? scan : mergeScan(known, scan));
  }

  function changed(): void {
    sorted = [...scans.values()].sort((a, b) => (b.createdAtMs ?? 0) - (a.createdAtMs ?? 0) || (a.id < b.id ? 1 : -1));
    onChange();
  }

  async function refresh(): Promise<void> {
    const page = await api.listScans({ limit: pageLimit, cursor: null, signal });
    const isConnected = page.items.some(({ id }) => scans.has(id));
    if (!isConnected) {
      // More are new than fit on a page: between them and the known ones is a gap, so the list starts afresh.
      scans.clear();
      nextCursor = page.nextCursor;
    }
    const listed = new Set(page.items.map(({ id }) => id));
    for (const scan of page.items) put(scan);
    const unlisted = sorted.filter(({ id, status }) => scans.has(id) && !listed.has(id) && !isEnded(status));
    for (const { id } of unlisted.slice(0, maxSingleReads)) put(await api.getScan(id, signal));
  }

  async function poll(): Promise<void> {
    let pauseMs = refreshEveryMs;
    while (!signal.aborted) {
      if (document.visibilityState === "visible") {
        try {
          await refresh();
          isLoaded = true;
          problem = null;
          pauseMs = refreshEveryMs;
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
      const page = await api.listScans({ limit: pageLimit, cursor: nextCursor, signal });
      for (const scan of page.items) put(scan);
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
    get scans() {
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
    put(scan) {
      // Only what is listed: an older scan opened by its link has its place further down.
      if (!scans.has(scan.id)) return;
      put(scan);
      changed();
    },
    refreshNow,
    close: () => closing.abort(),
  };
}
