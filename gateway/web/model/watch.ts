import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { toAlarms, toChangeAlarm, toSeen, type Alarm, type Seen } from "./attention.ts";
import type { LastChanges, LastChangesReader } from "./last_changes.ts";
import type { OverviewRow } from "./overview.ts";

/** What happened since the person looked. It lives in this browser only, and is no record of who has seen what. */
export interface Watch {
  readonly alarms: readonly Alarm[];
  readonly unexplained: number;
  readonly sinceMs: number;
  readonly notifies: boolean;
  /** Compares with what was there before. */
  update(rows: readonly OverviewRow[]): void;
  acknowledge(): void;
  /** Asks the browser for its permission: only after a click. */
  toggleNotifications(): Promise<void>;
  close(): void;
}

const maxAlarms = 50;
const maxRemembered = 1000;
const notifyKey = "scanstream.notify";

/** `person`: whose it is, in which tenant. */
export function createWatch(
  person: string,
  { nowMs, changes }: { readonly nowMs: () => number; readonly changes: LastChangesReader },
  onChange: () => void,
): Watch {
  const closing = new AbortController();
  const seenKey = `scanstream.seen.${person}`;
  const stored = readStored(seenKey);
  let sinceMs = typeof stored?.["at"] === "number" ? stored["at"] : nowMs();
  /** Null: the first rows are what everything after is compared with. */
  let seen = stored === null ? null : toSeenMap(stored["organizations"]);
  let rows: readonly OverviewRow[] = [];
  let alarms: readonly Alarm[] = [];
  const told = new Set<string>();
  const heard = new WeakSet<LastChanges>();
  let isTeller = false;

  // Only one tab of a browser notifies, so that each alarm comes once. The next tab takes over when it closes.
  if ("locks" in navigator) {
    const held = Promise.withResolvers<void>();
    closing.signal.addEventListener("abort", () => held.resolve(), { once: true });
    navigator.locks
      .request(`scanstream notifications ${person}`, { signal: closing.signal }, () => {
        isTeller = true;
        return held.promise;
      })
      .catch(() => undefined);
  }

  function raise(raised: readonly Alarm[]): void {
    const fresh = raised.filter(({ key }) => !told.has(key));
    if (fresh.length === 0) return;
    for (const { key } of fresh) told.add(key);
    for (const key of told) if (told.size > maxRemembered) told.delete(key);
    alarms = [...fresh, ...alarms].slice(0, maxAlarms);
    if (isTeller && notifies()) for (const alarm of fresh) notify(alarm);
    onChange();
  }

  /** Of the monitors whose counts have moved. */
  function toChangeAlarms(row: OverviewRow): readonly Alarm[] {
    const { monitor } = row;
    if (monitor === null) return [];
    changes.want(monitor.id, [monitor.status, monitor.pass, monitor.fail, monitor.manual].join());
    const read = changes.of(monitor.id);
    if (read === null || heard.has(read)) return [];
    heard.add(read);
    // By the gateway's clock, as the time since which somebody looked: the follower's may be another one.
    return read.unexplained
      .filter(({ created_at: at }) => Date.parse(at) > sinceMs)
      .map((change) => toChangeAlarm(row, change));
  }

  return {
    get alarms() {
      return alarms;
    },
    get unexplained() {
      return alarms.filter(({ key }) => key.startsWith("change ")).length;
    },
    get sinceMs() {
      return sinceMs;
    },
    get notifies() {
      return notifies();
    },
    update(next) {
      rows = next;
      const raised = seen === null ? [] : toAlarms(rows, seen);
      seen = toSeen(rows);
      raise([...raised, ...rows.flatMap(toChangeAlarms)]);
    },
    acknowledge() {
      alarms = [];
      sinceMs = nowMs();
      store(seenKey, JSON.stringify({ at: sinceMs, organizations: Object.fromEntries(toSeen(rows)) }));
      onChange();
    },
    async toggleNotifications() {
      if (notifies()) store(notifyKey, "off");
      else if ((await Notification.requestPermission()) === "granted") store(notifyKey, "on");
      onChange();
    },
    close: () => closing.abort(),
  };
}

function notifies(): boolean {
  return "Notification" in globalThis && Notification.permission === "granted" && readText(notifyKey) === "on";
}

function notify({ key, text, address }: Alarm): void {
  const notification = new Notification("scanstream", { body: text, tag: key });
  notification.addEventListener("click", () => {
    focus();
    location.hash = address;
    notification.close();
  });
}

function toSeenMap(value: unknown): ReadonlyMap<string, Seen> {
  const entries = Object.entries(isJsonObject(value) ? value : {}).map(([id, one]) => {
    const { cat1, isBlind } = isJsonObject(one) ? one : {};
    return [id, { cat1: typeof cat1 === "number" ? cat1 : 0, isBlind: isBlind === true }] as const;
  });
  return new Map(entries);
}

function readStored(key: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(readText(key) ?? "null");
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function readText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // A browser that keeps nothing forgets it with the tab.
  }
}
