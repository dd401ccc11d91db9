import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useRef } from "preact/hooks";
import { Button, Problem } from "../basics.tsx";
import { useAction, useList } from "../hooks.ts";

/** A list of the gateway that is read again after each change, also one whose answer was lost. `read` is the same function each time. */
export function useEditedList<Item>(read: (signal: AbortSignal) => Promise<readonly Item[]>) {
  const list = useList(read);
  const action = useAction();
  const run: typeof action.run = (what, work) => action.run(what, work).finally(list.reload);
  return { ...list, isBusy: action.isBusy, done: action.done, failure: action.problem, run };
}

interface ListProps<Item> {
  readonly label: string;
  readonly list: ReturnType<typeof useEditedList<Item>>;
  readonly emptyText: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** The outcome of the last change, and the rows. */
export function EditedList<Item>({ label, list, emptyText, row }: ListProps<Item>) {
  const { items, problem, done, failure, reload } = list;
  return (
    <>
      <p role="status">{items === null && problem === null ? "Loading…" : done}</p>
      <Problem text={failure ?? problem} />
      {problem !== null && <Button look="small" label="Try again" onClick={reload} />}
      {items?.length === 0 && <p class="fine">{emptyText}</p>}
      <ul class="edited-list" aria-label={label}>
        {items?.map(row)}
      </ul>
    </>
  );
}

interface AddFormProps {
  readonly label: string;
  readonly field: { readonly label: string; readonly maxLength: number; readonly placeholder?: string };
  readonly button: string;
  readonly isDisabled: boolean;
  /** True: it was added. */
  readonly add: (text: string) => Promise<boolean>;
  /** Elements between the field and the button; `children` are below. */
  readonly choice: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Adds one to the list by a text, which stays until it was added. */
export function AddForm({ label, field, button, isDisabled, add, choice, children }: AddFormProps) {
  const input = useRef<HTMLInputElement>(null);
  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const text = input.current?.value.trim() ?? "";
    if (text === "") input.current?.focus();
    else if ((await add(text)) && input.current !== null) input.current.value = "";
  }
  return (
    <form class="row wrap fields" aria-label={label} onSubmit={(event) => void submit(event)}>
      <label class="stack grow">
        {field.label}
        <input
          ref={input}
          autocomplete="off"
          spellcheck={false}
          required
          maxLength={field.maxLength}
          placeholder={field.placeholder}
        />
      </label>
      {choice}
      <Button type="submit" look="primary" label={button} disabled={isDisabled} />
      {children}
    </form>
  );
}
