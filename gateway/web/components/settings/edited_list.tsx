import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toProblem } from "../../model/connection.ts";
import { useLifetime } from "../hooks.ts";
import type { Pages } from "../use_pages.ts";

/** The action that runs, one at a time, and its outcome. */
export function useChanges(reload: () => void) {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly done: string; readonly problem: string }>({
    isBusy: false,
    done: "",
    problem: "",
  });
  const signal = useLifetime();
  /** `what` follows "Could not". True: it was done. */
  async function run(what: string, work: (signal: AbortSignal) => Promise<string>): Promise<boolean> {
    setState({ isBusy: true, done: "", problem: "" });
    try {
      const done = await work(signal);
      setState({ isBusy: false, done, problem: "" });
      reload();
      return true;
    } catch (error) {
      if (!signal.aborted) setState({ isBusy: false, done: "", problem: `Could not ${what}: ${toProblem(error)}` });
      return false;
    }
  }
  return { ...state, run };
}

interface ListProps<Item> {
  readonly label: string;
  readonly form: ComponentChildren;
  readonly pages: Pages<Item>;
  readonly changes: ReturnType<typeof useChanges>;
  readonly emptyText: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** A form that adds one, what came of the last change, and the rows. */
export function EditedList<Item>({ label, form, pages, changes, emptyText, row }: ListProps<Item>) {
  return (
    <>
      {form}
      <p role="status">{changes.done}</p>
      <p class="problem" role="alert">
        {changes.problem || pages.problem}
      </p>
      {pages.problem !== null && (
        <button type="button" class="button small" onClick={() => pages.reload()}>
          Try again
        </button>
      )}
      {!pages.isLoaded && pages.problem === null && <p role="status">Loading…</p>}
      {pages.isLoaded && pages.items.length === 0 && <p class="fine">{emptyText}</p>}
      <ul class="edited-list" aria-label={label}>
        {pages.items.map(row)}
      </ul>
      {pages.hasMore && (
        <button type="button" class="button more" disabled={pages.isLoadingMore} onClick={() => pages.loadMore()}>
          Load more
        </button>
      )}
    </>
  );
}
