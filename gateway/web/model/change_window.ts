import type { Change } from "../monitor_wire.ts";

/** The newest changes of a monitor: a page that is open for weeks keeps no more than these. */
export interface ChangeWindow {
  /** Newest first, without the first state. */
  readonly changes: readonly Change[];
  /** Where older ones begin; null: there are none, or the page keeps no more. */
  readonly nextCursor: string | null;
  /** Older ones were left out. */
  readonly isCut: boolean;
}

const maxChanges = 1000;

export const noChanges: ChangeWindow = { changes: [], nextCursor: null, isCut: false };

/** The first state is one line for every finding, and older than all else: it is where the window ends. */
export function withOlder({ changes }: ChangeWindow, older: readonly Change[], cursor: string | null): ChangeWindow {
  const next = [...changes, ...older.filter(({ cause }) => cause !== "start")];
  return bounded({ changes: next, nextCursor: older.at(-1)?.cause === "start" ? null : cursor, isCut: false });
}

export function withNewer(window: ChangeWindow, newer: readonly Change[]): ChangeWindow {
  const known = new Set(window.changes.map(({ id }) => id));
  return bounded({ ...window, changes: [...newer.filter(({ id }) => !known.has(id)), ...window.changes] });
}

function bounded({ changes, nextCursor, isCut }: ChangeWindow): ChangeWindow {
  const isOver = changes.length > maxChanges || (changes.length === maxChanges && nextCursor !== null);
  if (!isOver) return { changes, nextCursor, isCut };
  return { changes: changes.slice(0, maxChanges), nextCursor: null, isCut: true };
}
