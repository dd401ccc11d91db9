import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toProblem } from "../../model/connection.ts";
import { useLifetime, type List } from "../hooks.ts";

/** The action that runs, one at a time, and its outcome. */
export function useChanges(reload: () => void) {
  const [state, setState] = useState({ isBusy: false, done: "", problem: "" });
  const signal = useLifetime();
  /** `what` follows "Could not"; `work` resolves with what was done. True: it was. */
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
  readonly list: List<Item>;
  readonly changes: ReturnType<typeof useChanges>;
  readonly emptyText: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** A form that adds one, what came of the last change, and the rows. */
export function EditedList<Item>({ label, form, list, changes, emptyText, row }: ListProps<Item>) {
  const { items, problem, reload } = list;
  return (
    <>
      {form}
      <p role="status">{items === null && problem === null ? "Loading…" : changes.done}</p>
      <p class="problem" role="alert">
        {changes.problem || problem}
      </p>
      {problem !== null && (
        <button type="button" class="button small" onClick={reload}>
          Try again
        </button>
      )}
      {items?.length === 0 && <p class="fine">{emptyText}</p>}
      <ul class="edited-list" aria-label={label}>
        {items?.map(row)}
      </ul>
    </>
  );
}
