/** `/` searches, `j` and `k` go through the rows. The browser itself opens a row with Enter and closes a dialog with Esc. */
const shortcuts: Readonly<Record<string, () => boolean>> = {
  "/": focusSearch,
  j: () => moveBy(1),
  k: () => moveBy(-1),
};

/** Takes no key that is typed into a field, held with a modifier, or meant for a dialog. */
export function handleShortcut(event: KeyboardEvent): void {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
  if (isField(event.target) || document.querySelector("dialog[open]") !== null) return;
  // The key keeps its meaning for the browser if the page has nothing to do with it.
  if (shortcuts[event.key]?.() === true) event.preventDefault();
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, select, textarea"));
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  field?.focus();
  field?.select();
  return field !== null;
}

function moveBy(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(".organization-link, .rule > summary")].filter((row) =>
    row.checkVisibility(),
  );
  const { activeElement } = document;
  const current = activeElement?.closest(".organization, .rule") ?? null;
  const index = current === null ? -1 : rows.findIndex((row) => current.contains(row));
  const row = rows[index === -1 ? 0 : index + step];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
  return rows.length > 0;
}
