import type { Change } from "../monitor_wire.ts";
import type { Api } from "./api.ts";
import { isUnexplained } from "./change_view.ts";

/** What a monitor's newest changes say, for its line of the overview. */
export interface LastChanges {
  /** Null: nothing has changed yet. */
  readonly newest: Change | null;
  /** Among the newest ones. */
  readonly unexplained: number;
  readonly read: number;
}

/** Reads the newest changes of monitors, a few at a time, for lines that are on the screen. */
export interface LastChangesReader {
  /** Null: not read. */
  of(monitorId: string): LastChanges | null;
  /** Reads them unless this version was read already. */
  want(monitorId: string, version: string): void;
  close(): void;
}

const pageLimit = 20;
const maxAtOnce = 4;
/** With more organizations than this on screens, the ones that were asked for first are read again later. */
const maxWaiting = 500;

export function createLastChanges(api: Api, onChange: () => void): LastChangesReader {
  const closing = new AbortController();
  const known = new Map<string, LastChanges>();
  const versions = new Map<string, string>();
  const waiting: string[] = [];
  let running = 0;

  async function read(monitorId: string): Promise<void> {
    running += 1;
    try {
      const { items } = await api.listChanges(monitorId, { limit: pageLimit, cursor: null, signal: closing.signal });
      const changes = items.filter(({ cause }) => cause !== "start");
      const unexplained = changes.filter(isUnexplained).length;
      known.set(monitorId, { newest: changes[0] ?? null, unexplained, read: changes.length });
    } catch {
      // The line says that it is not known; the next change asks again.
      versions.delete(monitorId);
    }
    running -= 1;
    next();
    if (!closing.signal.aborted) onChange();
  }

  function next(): void {
    while (running < maxAtOnce && !closing.signal.aborted) {
      const monitorId = waiting.shift();
      if (monitorId === undefined) return;
      void read(monitorId);
    }
  }

  return {
    of: (monitorId) => known.get(monitorId) ?? null,
    want(monitorId, version) {
      if (versions.get(monitorId) === version) return;
      versions.set(monitorId, version);
      if (!waiting.includes(monitorId)) waiting.push(monitorId);
      if (waiting.length > maxWaiting) versions.delete(waiting.shift() ?? "");
      next();
    },
    close: () => closing.abort(),
  };
}
