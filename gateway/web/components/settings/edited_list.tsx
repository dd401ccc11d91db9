import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toProblem } from "../../model/connection.ts";
import { Button, Problem } from "../basics.tsx";
import { useLifetime, type List } from "../hooks.ts";

interface Outcome {
  readonly done: string;
  readonly problem: string | null;
}

/** The action that runs, one at a time, and its outcome. */
export function useChanges(reload: () => void) {
  const [state, setState] = useState<Outcome & { readonly isBusy: boolean }>({
    isBusy: false,
    done: "",
    problem: null,
  });
  const signal = useLifetime();
  /** `what` follows "Could not"; `work` resolves with what was done. True: it was. */
  async function run(what: string, work: (signal: AbortSignal) => Promise<string>): Promise<boolean> {
    setState({ isBusy: true, done: "", problem: null });
    try {
      setState({ isBusy: false, done: await work(signal), problem: null });
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
  readonly changes: Outcome;
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
      <Problem text={changes.problem ?? problem} />
      {problem !== null && <Button look="small" label="Try again" onClick={reload} />}
      {items?.length === 0 && <p class="fine">{emptyText}</p>}
      <ul class="edited-list" aria-label={label}>
        {items?.map(row)}
      </ul>
    </>
  );
}
