import { subscribe, type Subscription } from "../../../shared/client/subscribe.ts";
import { changeSchema, type Change } from "../../../shared/schemas/change.ts";
import type { Decision } from "../../../shared/schemas/decision.ts";
import { monitorSchema, type Monitor } from "../../../shared/schemas/monitor.ts";
import type { Organization } from "../../../shared/schemas/organization.ts";
import { overviewSchema, type Overview } from "../../../shared/schemas/overview.ts";
import { scanSchema, type Scan } from "../../../shared/schemas/scan.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";
import type { Api, Page } from "./api.ts";
import { continueAfterExpiry, noConnection, rethrowAsFinal, toConnection, type Connection } from "./connection.ts";

/** A rule of CAT I that fails, with its failing findings. */
export type FailingRule = Overview["cat1"][number];
type EventType = keyof TenantEvents;
type Listener = (type: EventType, data: object) => void;

/** Everything of the tenant, kept true on one connection: the overview is read on every open of its stream, then events. */
export interface TenantStore {
  /** The overview was read once. */
  readonly isRead: boolean;
  readonly organizations: readonly Organization[];
  readonly monitors: ReadonlyMap<string, Monitor>;
  /** Newest first: the newest ones, all that have not ended, and the older ones that were asked for. */
  readonly scans: readonly Scan[];
  /** The ones that hold, newest first; another array after each change. */
  readonly decisions: readonly Decision[];
  /** By monitor: its newest changes, newest first, without the first state. */
  readonly changes: ReadonlyMap<string, readonly Change[]>;
  /** By organization: the rules of CAT I that fail now. */
  readonly cat1: ReadonlyMap<string, readonly FailingRule[]>;
  /** Newer changes are shown as new; null: the member was never here, or is an API key. */
  readonly seenAtMs: number | null;
  /** Scans that were deleted since the page was opened. */
  readonly deletedScans: ReadonlySet<string>;
  readonly connection: Connection;
  retryNow(): void;
  /** Takes what there is now as seen. */
  markSeen(): void;
  put(decision: Decision): void;
  /** Reads a scan that is not listed. Rejects as `Api` does. */
  findScan(id: string, signal: AbortSignal): Promise<Scan>;
  /** Calls back with each event, until the function that it returns is called. */
  listen(listener: Listener): () => void;
  close(): void;
}

const keptChanges = 50;
const newestChanges = 20;
/** A tab that nobody looks at gives its connection back: over HTTP/1.1 a browser has six. */
const hiddenForMs = 30_000;
const retryEveryMs = 3000;

export interface TenantStoreOptions {
  /** Overview that was read together with the session; null: it is read first. */
  readonly overview: Overview | null;
  readonly onChange: () => void;
  /** The gateway shows this person nothing of the tenant any more. */
  readonly onRefused: () => void;
}

export function createTenantStore(api: Api, { overview, onChange, onRefused }: TenantStoreOptions): TenantStore {
  const closing = new AbortController();
  const { signal } = closing;
  const organizations = new Map<string, Organization>();
  const monitors = new Map<string, Monitor>();
  const scans = new Map<string, Scan>();
  const changes = new Map<string, readonly Change[]>();
  const cat1 = new Map<string, readonly FailingRule[]>();
  const deletedScans = new Set<string>();
  const listeners = new Set<Listener>();
  const reading = new Map<string, "reading" | "again">();
  let decisions: readonly Decision[] = [];
  let sortedScans: readonly Scan[] = [];
  let isRead = false;
  let seenAtMs: number | null = null;
  let connection = noConnection;
  let subscription: Subscription<TenantEvents> | null = null;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  function replaceAll(next: Overview): void {
    replace(organizations, next.organizations);
    replace(monitors, next.monitors);
    const older = sortedScans.filter(({ id, status }) => !deletedScans.has(id) && hasEnded(status));
    replace(scans, [...older, ...next.scans]);
    ({ decisions } = next);
    group(changes, next.changes, ({ monitor_id: id }) => id);
    group(cat1, next.cat1, ({ organization_id: id }) => id);
    // News of this visit stay news while the page is open.
    if (!isRead) seenAtMs = next.seen_at === null ? null : Date.parse(next.seen_at);
    isRead = true;
    connection = { ...connection, refetchedAtMs: api.nowMs() };
    sortScans();
    onChange();
  }

  function sortScans(): void {
    sortedScans = [...scans.values()].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  }

  async function read(signal: AbortSignal): Promise<void> {
    replaceAll(await api.get("api/v1/overview", overviewSchema, signal));
  }

  /** Runs `work` for this key once at a time; of many calls meanwhile the last one runs it again. */
  async function readOnce(key: string, work: () => Promise<void>): Promise<void> {
    if (reading.has(key)) return void reading.set(key, "again");
    do {
      reading.set(key, "reading");
      // The next event, or the next open of the stream, reads it again.
      await work().catch(() => undefined);
    } while (reading.get(key) === "again" && !signal.aborted);
    reading.delete(key);
    if (!signal.aborted) onChange();
  }

  function readChanges(monitorId: string): void {
    void readOnce(monitorId, async () => {
      const request = { limit: newestChanges, cursor: null, signal };
      const page: Page<Change> = await api.list(`${toMonitorPath(monitorId)}/changes`, changeSchema, request);
      const known = changes.get(monitorId) ?? [];
      const ids = new Set(known.map(({ id }) => id));
      const fresh = page.items.filter(({ id, cause }) => cause !== "start" && !ids.has(id));
      changes.set(monitorId, [...fresh, ...known].slice(0, keptChanges));
    });
  }

  /** Reads for the first and the last of many calls at once. */
  function readAgain(): void {
    void readOnce("overview", () => read(signal));
  }

  function apply(type: EventType, data: object): void {
    const fields = data as Readonly<Record<string, unknown>>;
    const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
    if (type === "scan.created" || type === "scan.updated") putScan(data as Scan);
    else if (type === "scan.deleted") {
      deletedScans.add(text("scan_id"));
      scans.delete(text("scan_id"));
      sortScans();
    } else if (type === "scan.end") {
      const known = scans.get(text("scan_id"));
      const ended_at = new Date(api.nowMs()).toISOString();
      if (known !== undefined) putScan({ ...known, ended_at, ...(data as Pick<Scan, "status">) });
      // It may contradict an attestation.
      readAgain();
    } else if (type === "decision.created" || type === "decision.updated") putDecision(data as Decision);
    else if (type === "organization.updated") putOrganization(data as Organization);
    else if (type === "organization.deleted") organizations.delete(text("organization_id"));
    else if (type.startsWith("monitor.")) applyToMonitor(type, text("monitor_id"), fields);
    if (type === "finding.updated") readChanges(text("monitor_id"));
    for (const listener of listeners) listener(type, data);
    onChange();
  }

  function putScan(scan: Scan): void {
    const known = scans.get(scan.id);
    // An event may be older than what was read.
    if (known !== undefined && hasEnded(known.status) && !hasEnded(scan.status)) return;
    scans.set(scan.id, scan);
    sortScans();
  }

  function putDecision(decision: Decision): void {
    const others = decisions.filter(({ id }) => id !== decision.id);
    decisions = decision.state === "active" ? [decision, ...others] : others;
  }

  function putOrganization(next: Organization): void {
    const known = organizations.get(next.id);
    organizations.set(next.id, next);
    if (next.monitor_id !== null) readChanges(next.monitor_id);
    // The event does not say which rule it is.
    if (next.cat1_open !== known?.cat1_open) readAgain();
  }

  function applyToMonitor(type: EventType, id: string, fields: Readonly<Record<string, unknown>>): void {
    const known = monitors.get(id);
    if (type === "monitor.end" && fields["reason"] === "deleted") monitors.delete(id);
    else if (known === undefined) {
      // The next open of the stream finds it, too.
      void readOnce(`monitor ${id}`, async () => {
        monitors.set(id, await api.get(toMonitorPath(id), monitorSchema, signal));
      });
    } else monitors.set(id, withEvent(known, type, fields, new Date(api.nowMs()).toISOString()));
  }

  function follow(): void {
    subscription = subscribe<TenantEvents>(new URL("api/v1/event-stream", document.baseURI), {
      signal,
      fetch: api.fetchStream,
      // The first opening comes right after what was read with the session, but not in the same moment.
      refetch: (signal) => rethrowAsFinal(read(signal)),
      onEvent: ({ type, data }) => apply(type, data),
      onStateChange(state, detail) {
        if (continueAfterExpiry(detail, () => subscription?.retryNow())) return;
        connection = { ...connection, ...toConnection(state, detail) };
        onChange();
        if (state === "failed" && ["permission_denied", "not_found"].includes(detail.error?.code ?? "")) onRefused();
        // A gateway that has no room for a stream may still answer; what is shown is then not live, and says so.
        const isRefused = detail.error !== null && (state === "failed" || detail.retryInMs > 0);
        if (isRefused && !isRead) read(signal).catch(() => undefined);
      },
    });
  }

  /** Stores at the gateway that everything until now was seen; the request outlives the page. */
  function storeSeen(): void {
    api
      .send("PUT", "api/v1/seen", { signal: AbortSignal.timeout(retryEveryMs), keepalive: true })
      .catch(() => undefined);
  }

  function onVisibility(): void {
    clearTimeout(hiding);
    if (document.visibilityState === "hidden") {
      if (isRead) storeSeen();
      const leftAtMs = api.nowMs();
      hiding = setTimeout(() => {
        subscription?.close();
        subscription = null;
        seenAtMs = leftAtMs;
        connection = { ...connection, state: "connecting", problem: null, retryAtMs: null };
      }, hiddenForMs);
    } else if (subscription === null) follow();
  }

  if (overview !== null) replaceAll(overview);
  document.addEventListener("visibilitychange", onVisibility, { signal });
  follow();
  return {
    get isRead() {
      return isRead;
    },
    get organizations() {
      return [...organizations.values()];
    },
    monitors,
    get scans() {
      return sortedScans;
    },
    get decisions() {
      return decisions;
    },
    changes,
    cat1,
    get seenAtMs() {
      return seenAtMs;
    },
    deletedScans,
    get connection() {
      return connection;
    },
    retryNow() {
      if (connection.state === "failed") follow();
      else subscription?.retryNow();
    },
    markSeen() {
      seenAtMs = api.nowMs();
      storeSeen();
      onChange();
    },
    put(decision) {
      putDecision(decision);
      onChange();
    },
    async findScan(id, signal) {
      const scan = scans.get(id) ?? (await api.get(toScanPath(id), scanSchema, signal));
      putScan(scan);
      return scan;
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      clearTimeout(hiding);
      if (isRead) storeSeen();
      closing.abort();
    },
  };
}

export function hasEnded(status: Scan["status"]): boolean {
  return status !== "pending" && status !== "running";
}

export function toScanPath(id: string): string {
  return `api/v1/scans/${encodeURIComponent(id)}`;
}

export function toMonitorPath(id: string): string {
  return `api/v1/monitors/${encodeURIComponent(id)}`;
}

export function toOrganizationPath(id: string): string {
  return `api/v1/organizations/${encodeURIComponent(id)}`;
}

/** The monitor as an event leaves it. That it is stale is the gateway's own word; all else is a report of the producer. */
function withEvent(monitor: Monitor, type: EventType, fields: Readonly<Record<string, unknown>>, now: string): Monitor {
  if (type === "monitor.start") return { ...monitor, status: "running", updated_at: now };
  if (type === "monitor.end") return { ...monitor, status: "ended" };
  if (type === "monitor.error") {
    return { ...monitor, error_code: String(fields["code"]), error_detail: String(fields["detail"]) };
  }
  if (type !== "monitor.updated") return monitor;
  const next = { ...monitor, ...fields };
  const updated_at = next.status === "stale" ? monitor.updated_at : now;
  return { ...next, updated_at, error_detail: next.error_code === null ? null : monitor.error_detail };
}

function group<Item extends Kept, Kept>(
  groups: Map<string, readonly Kept[]>,
  items: readonly Item[],
  idOf: (item: Item) => string,
): void {
  groups.clear();
  for (const [id, own] of Map.groupBy(items, idOf)) groups.set(id, own);
}

function replace<Item extends { readonly id: string }>(items: Map<string, Item>, next: readonly Item[]): void {
  items.clear();
  for (const item of next) items.set(item.id, item);
}
