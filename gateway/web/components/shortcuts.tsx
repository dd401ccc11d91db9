import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { areOn, createKeyHandler, createShortcuts, ownKeys, setOn } from "../model/shortcuts.ts";

/** Listens for the keyboard shortcuts, and lists them when asked. The browser gives the focus back. */
export function Shortcuts() {
  const [isShown, setShown] = useState(false);
  const [shortcuts] = useState(() => createShortcuts(() => setShown(true)));
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const onKeyDown = createKeyHandler(shortcuts);
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [shortcuts]);
  useEffect(() => {
    if (isShown) dialog.current?.showModal();
  }, [isShown]);
  return (
    <>
      <button type="button" class="button button-quiet shortcuts-button" onClick={() => setShown(true)}>
        Keyboard shortcuts
      </button>
      {isShown && (
        <dialog ref={dialog} class="card confirm" aria-labelledby="shortcuts-title" onClose={() => setShown(false)}>
          <div class="stack">
            <h2 id="shortcuts-title">Keyboard shortcuts</h2>
            <dl class="shortcuts">
              {[...shortcuts, ...ownKeys].map(({ keys, text }) => (
                <div key={text} class="row">
                  <dt class="row">
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
            <label class="row">
              <input
                type="checkbox"
                defaultChecked={areOn()}
                onChange={({ currentTarget }) => setOn(currentTarget.checked)}
              />
              Use single keys as shortcuts
            </label>
            <div class="row">
              <button type="button" class="button" onClick={() => dialog.current?.close()}>
                Close
              </button>
            </div>
          </div>
        </dialog>
      )}
    </>
  );
}
