const focusable = "a[href], button, input, select, textarea, summary, [tabindex]";

/** Puts the focus on what is next when what had it vanishes; the browser would give it to the document. */
export function keepFocus(): void {
  let held: HTMLElement | null = null;
  // Stay where an element was when that is removed: the one with the focus, and the one that had it before a dialog.
  const [place, opener] = [document.createRange(), document.createRange()];

  document.addEventListener("focusin", ({ target }) => {
    held = target as HTMLElement;
    place.selectNode(held);
    if (held.closest("dialog") === null) opener.selectNode(held);
  });
  // A click next to it takes the focus away on purpose.
  document.addEventListener("pointerdown", ({ target }) => {
    if (held?.contains(target as Node) === false) held = null;
  });

  function keep(): void {
    // With the focus in the bars of the browser, the page has none to keep.
    if (held === null || document.activeElement !== document.body || !document.hasFocus()) return;
    held.focus();
    // While an action runs its buttons are disabled, and what comes after a removed one gets the focus at its end.
    const isBusy = held.matches(":disabled");
    if (document.activeElement === held || (isBusy && held.isConnected)) return;
    // A dialog that closes cannot give the focus back to what is gone.
    const from = held.closest("dialog")?.open === false ? opener : place;
    const { startContainer } = from;
    let around = startContainer instanceof Element ? startContainer : null;
    for (; around !== null; around = around.parentElement) {
      const all = [...around.querySelectorAll<HTMLElement>(focusable)].filter(
        (one) => one.checkVisibility() && (isBusy || !one.matches(":disabled")),
      );
      const next = all.find((one) => from.comparePoint(one, 0) > 0) ?? all.at(-1);
      if (next !== undefined) return next.focus();
    }
  }
  const changes = { subtree: true, childList: true, attributeFilter: ["disabled", "hidden"] };
  new MutationObserver(keep).observe(document.body, changes);
}
