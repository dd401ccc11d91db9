import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { MoreButton } from "../basics.tsx";
import type { Action } from "./use_action.ts";
import type { Pages } from "./use_pages.ts";

/** What the sections of the settings have in common. */

/** What became of the last change; a screen reader hears it, and the keyboard goes on here where a row may be gone. */
export function Outcome({ action: { done, problem } }: { readonly action: Action }) {
  const words = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    // Reading the section is no change to speak of.
    if (done === null || done === "" || activeElement?.closest("form")) return;
    words.current?.focus();
  }, [done]);
  return (
    <>
      <p ref={words} class="outcome" role="status" tabIndex={-1}>
        {done}
      </p>
      <p class="problem tinted tone-fail" role="alert">
        {problem}
      </p>
    </>
  );
}

/** The rows of a list, or why there are none. */
export function Rows<Item>(props: {
  readonly pages: Pages<Item>;
  readonly label: string;
  readonly emptyText: string;
  readonly row: (item: Item) => ComponentChildren;
}) {
  const { pages, label, emptyText, row } = props;
  return (
    <>
      {!pages.isLoaded && pages.problem === null && <p role="status">Loading…</p>}
      {pages.problem !== null && (
        <p class="problem row wrap tinted tone-fail" role="alert">
          {pages.problem}
          <button type="button" class="button button-small" onClick={() => pages.reload()}>
            Try again
          </button>
        </p>
      )}
      {pages.isLoaded && pages.items.length === 0 && <p class="note">{emptyText}</p>}
      <ul aria-label={label}>{pages.items.map(row)}</ul>
      <MoreButton list={pages} />
    </>
  );
}

/** Asks before something is taken away for good. The browser keeps the focus inside, and gives it back. */
export function ConfirmDialog(props: {
  readonly title: string;
  readonly text: string;
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const { title, text, confirm, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="card confirm"
      aria-labelledby="confirm-title"
      aria-describedby="confirm-text"
      onClose={onClose}
    >
      <div class="stack">
        <h3 id="confirm-title">{title}</h3>
        <p id="confirm-text">{text}</p>
        <div class="row wrap">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Keep
          </button>
          <button
            type="button"
            class="button inked tone-fail"
            onClick={() => {
              dialog.current?.close();
              onConfirm();
            }}
          >
            {confirm}
          </button>
        </div>
      </div>
    </dialog>
  );
}
