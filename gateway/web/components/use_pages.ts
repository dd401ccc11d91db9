import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Page, PageRequest } from "../model/api.ts";
import { toProblem } from "../model/connection.ts";

/** A list, read a page at a time. */
export interface Pages<Item> {
  readonly items: readonly Item[];
  readonly isLoaded: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why it could not be read. */
  readonly problem: string | null;
  loadMore(): void;
  /** From the beginning, after something was changed. */
  reload(): void;
}

const pageLimit = 50;

/** Reads again from the beginning when `read` is another function. */
export function usePages<Item>(read: (request: PageRequest) => Promise<Page<Item>>): Pages<Item> {
  const [state, setState] = useState<{ readonly items: readonly Item[]; readonly cursor: string | null } | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [problem, setProblem] = useState<string | null>(null);
  const reading = useRef<AbortController | null>(null);

  const load = useCallback(
    async (before: readonly Item[], cursor: string | null) => {
      reading.current?.abort();
      const current = new AbortController();
      reading.current = current;
      setLoading(true);
      setProblem(null);
      try {
        const page = await read({ limit: pageLimit, cursor, signal: current.signal });
        if (current.signal.aborted) return;
        setState({ items: [...before, ...page.items], cursor: page.nextCursor });
      } catch (error) {
        if (current.signal.aborted) return;
        setProblem(toProblem(error));
      }
      setLoading(false);
    },
    [read],
  );

  useEffect(() => {
    void load([], null);
    return () => reading.current?.abort();
  }, [load]);

  return {
    items: state?.items ?? [],
    isLoaded: state !== null,
    hasMore: state !== null && state.cursor !== null,
    isLoadingMore: isLoading,
    problem,
    loadMore: () => void load(state?.items ?? [], state?.cursor ?? null),
    reload: () => void load([], null),
  };
}
