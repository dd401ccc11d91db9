import type { Change } from "../monitor_wire.ts";
import type { Api } from "./api.ts";
import { isUnexplained } from "./change_view.ts";

/** What a monitor's newest changes say. */
export interface LastChanges {
  /** Null: nothing has changed yet. */
  readonly newest: Change | null;
  /** Among the newest ones. */
  readonly unexplained: readonly Change[];
}

/** Reads the newest changes of monitors, a few at a time. */
export interface LastChangesReader {
  /** Null: not read. */
  of(monitorId: string): LastChanges | null;
  /** Reads them unless this version was read already. */
  want(monitorId: string, version: string): void;
}

const pageLimit = 20;
const maxAtOnce = 4;
/** With more monitors than this waiting, the ones that were asked for first are asked for again later. */
const maxWaiting = 500;
/** A gateway that refused one is asked for no other one so soon. */
const pauseMs = 10_000;

export function createLastChanges(api: Api, onChange: () => void, signal: AbortSignal): LastChangesReader {
  const known = new Map<string, LastChanges>();
  const versions = new Map<string, string>();
  const waiting: string[] = [];
  let running = 0;
  let notBeforeMs = 0;

  async function read(monitorId: string): Promise<void> {
    running += 1;
    try {
      const { items } = await api.listChanges(monitorId, { limit: pageLimit, cursor: null, signal });
      const [newest = null] = items.filter(({ cause }) => cause !== "start");
      known.set(monitorId, { newest, unexplained: items.filter(isUnexplained) });
    } catch {
      // It is asked for again.
      versions.delete(monitorId);
      notBeforeMs = performance.now() + pauseMs;
    }
    running -= 1;
    next();
    if (!signal.aborted) onChange();
  }

  function next(): void {
    while (running < maxAtOnce && !signal.aborted && performance.now() >= notBeforeMs) {
      const monitorId = waiting.shift();
      if (monitorId === undefined) return;
      void read(monitorId);
    }
  }

  return {
    of: (monitorId) => known.get(monitorId) ?? null,
    want(monitorId, version) {
      if (versions.get(monitorId) !== version) {
        versions.set(monitorId, version);
        if (!waiting.includes(monitorId)) waiting.push(monitorId);
        if (waiting.length > maxWaiting) versions.delete(waiting.shift() ?? "");
      }
      next();
    },
  };
}
