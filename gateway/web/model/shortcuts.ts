import { currentZone, setZone } from "./format.ts";

/** The keyboard shortcuts of the page: what the handler runs, and what the help lists. */

export interface Shortcut {
  /** One after the other. */
  readonly keys: readonly string[];
  readonly text: string;
  /** False: there is nothing here to do it with, and the key keeps its meaning for the browser. */
  readonly run: () => boolean;
}

/** The browser opens the row that has the focus, and closes a dialog. */
export const ownKeys: readonly Omit<Shortcut, "run">[] = [
  { keys: ["Enter"], text: "Open the row" },
  { keys: ["Esc"], text: "Close this help" },
];

export function createShortcuts(openHelp: () => void): readonly Shortcut[] {
  const done = (work: () => void) => () => {
    work();
    return true;
  };
  return [
    { keys: ["?"], text: "Show this help", run: done(openHelp) },
    { keys: ["/"], text: "Search", run: focusSearch },
    { keys: ["j"], text: "Next finding or organization", run: () => moveBy(1) },
    { keys: ["k"], text: "Previous finding or organization", run: () => moveBy(-1) },
    { keys: ["g", "o"], text: "Go to the overview", run: done(() => (location.hash = "#/")) },
    {
      keys: ["u"],
      text: "Show times in UTC, or in your zone",
      run: done(() => setZone(currentZone() === "utc" ? "local" : "utc")),
    },
  ];
}

/** The second key of two comes within this time. */
const togetherMs = 1500;

/** Handles keys as they come; takes none that are typed into a field, held with a modifier, or meant for a dialog. */
export function createKeyHandler(shortcuts: readonly Shortcut[]): (event: KeyboardEvent) => void {
  let first: { readonly key: string; readonly atMs: number } | null = null;
  return (event) => {
    if (event.key === "Shift") return;
    const before = first !== null && event.timeStamp - first.atMs <= togetherMs ? first.key : null;
    first = null;
    if (!areOn() || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented)
      return;
    if (isField(event.target) || document.querySelector("dialog[open]") !== null) return;
    const typed = before === null ? event.key : `${before} ${event.key}`;
    const found = shortcuts.find(({ keys }) => keys.join(" ") === typed);
    if (found !== undefined) {
      if (found.run()) event.preventDefault();
    } else if (shortcuts.some(({ keys }) => keys.length > 1 && keys[0] === event.key)) {
      first = { key: event.key, atMs: event.timeStamp };
    }
  };
}

const storageKey = "scanstream.shortcuts";
let isOn = read() !== "off";

/** Single keys can be switched off: for speech input they are in the way. */
export function areOn(): boolean {
  return isOn;
}

export function setOn(next: boolean): void {
  isOn = next;
  try {
    localStorage.setItem(storageKey, next ? "on" : "off");
  } catch {
    // Then they are so until the page is read again.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
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
  const rows = [...document.querySelectorAll<HTMLElement>(".organization-link, .finding > summary")].filter((row) =>
    row.checkVisibility(),
  );
  const { activeElement } = document;
  const current = activeElement?.closest(".organization, .finding") ?? null;
  const index = current === null ? -1 : rows.findIndex((row) => current.contains(row));
  const row = rows[index === -1 ? 0 : index + step];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
  return rows.length > 0;
}
