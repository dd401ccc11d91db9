import { subscribe, type SnapshotEvent, type Subscription } from "../../../shared/client/subscribe.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";
import { parseMonitor, type Monitor } from "../monitor_wire.ts";
import { parseOrganization } from "../organization_wire.ts";
import { parseScan, toRecord, type Scan } from "../scan_wire.ts";
import type { Api } from "./api.ts";
import { continueAfterExpiry, noConnection, rethrowAsFinal, toConnection, type Connection } from "./connection.ts";
import { createDecisionStore, parseDecision, type DecisionStore } from "./decisions/decision_store.ts";
import { createLastChanges, type LastChangesReader } from "./last_changes.ts";
import { createListStore, listPageLimit, type ListStore } from "./list_store.ts";
import { applyMonitorEvent } from "./monitor_model.ts";
import { createOrganizationStore, type OrganizationStore } from "./organization_store.ts";
import { applyToScan, mergeScan } from "./scan_model.ts";

/** Everything of the tenant, kept true on one connection: state on every open of its stream, then events. */
export interface TenantFollower {
  readonly scans: ListStore<Scan>;
  readonly monitors: ListStore<Monitor>;
  readonly organizations: OrganizationStore;
  readonly lastChanges: LastChangesReader;
  readonly decisions: DecisionStore;
  /** Scans that were deleted since the page was opened. */
  readonly deletedScans: ReadonlySet<unknown>;
  readonly connection: Connection;
  readonly retryNow: () => void;
  close(): void;
}

/** With this many monitors or organizations the snapshot does not hold all of them. */
const maxSnapshots = 1000;
/** A tab that nobody looks at gives its connection back: over HTTP/1.1 a browser has six. */
const hiddenForMs = 30_000;

/** `onRefused`: the gateway shows this person nothing of the tenant any more. */
export function followTenant(api: Api, onChange: () => void, onRefused: () => void): TenantFollower {
  const closing = new AbortController();
  const { signal } = closing;
  const scans = createListStore<Scan>(
    {
      list: (request) => api.listScans(request),
      merge: mergeScan,
    },
    onChange,
    signal,
  );
  const monitors = createListStore<Monitor>(
    {
      list: (request) => api.listMonitors(request),
      merge: (known, next) => (next.updatedAtMs < known.updatedAtMs ? known : next),
    },
    onChange,
    signal,
  );
  const organizations = createOrganizationStore(api, onChange);
  const lastChanges = createLastChanges(api, onChange, signal);
  const decisions = createDecisionStore(api, onChange, signal);
  let connection = noConnection;
  let subscription: Subscription<TenantEvents> | null = null;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const deletedScans = new Set<unknown>();
  let snapshot: readonly SnapshotEvent<TenantEvents>[] = [];

  /** A snapshot holds the scans that have not ended; the newest page holds the ones that have. */
  async function load(signal: AbortSignal): Promise<void> {
    const request = { limit: listPageLimit, cursor: null, signal };
    const head = snapshot.find(({ type }) => type === "tenant.snapshot")?.data as
      | TenantEvents["tenant.snapshot"]
      | undefined;
    const unended = snapshot.flatMap(({ type, data }) => (type === "scan.snapshot" ? [parseScan(data)] : []));
    const present = snapshot.flatMap(({ type, data }) => (type === "monitor.snapshot" ? [parseMonitor(data)] : []));
    const hasAllMonitors = head !== undefined && head.monitors < maxSnapshots;
    const hasAllOrganizations = head !== undefined && head.organizations < maxSnapshots;
    if (hasAllOrganizations) {
      organizations.replace(
        snapshot.flatMap(({ type, data }) => (type === "organization.snapshot" ? [parseOrganization(data)] : [])),
      );
    }
    const [newestScans, newestMonitors] = await Promise.all([
      api.listScans(request),
      hasAllMonitors ? { items: present, nextCursor: null } : api.listMonitors(request),
      hasAllOrganizations ? null : organizations.read(signal),
    ]);
    scans.replace(unended, newestScans);
    monitors.replace(present, newestMonitors);
    connection = { ...connection, refetchedAtMs: api.nowMs() };
    decisions.invalidate();
  }

  function follow(): void {
    subscription = subscribe<TenantEvents>(new URL("api/v1/event-stream", document.baseURI), {
      signal,
      fetch: api.fetchStream,
      onSnapshot: (events) => {
        snapshot = events;
      },
      refetch: (signal) => rethrowAsFinal(load(signal)),
      onEvent({ type, data }) {
        try {
          apply(type, data);
        } catch {
          // Any key of the tenant may publish an event, also one that is no scan.
        }
      },
      onStateChange(state, detail) {
        if (continueAfterExpiry(detail, () => subscription?.retryNow())) return;
        connection = { ...connection, ...toConnection(state, detail) };
        onChange();
        if (state === "failed" && ["permission_denied", "not_found"].includes(detail.error?.code ?? "")) onRefused();
        // A gateway that has no room for a stream may still answer; what is shown is then not live, and says so.
        const isRefused = detail.error !== null && (state === "failed" || detail.retryInMs > 0);
        if (isRefused && !scans.isLoaded) load(signal).catch(() => undefined);
      },
    });
  }

  function apply(type: keyof TenantEvents, data: object): void {
    const fields = toRecord(data);
    if (type === "scan.created" || type === "scan.updated") scans.add(parseScan(data));
    if (type === "decision.created" || type === "decision.updated") decisions.put(parseDecision(data));
    // The scan may have contradicted one.
    if (type === "scan.end" && decisions.items.some(({ kind }) => kind === "attestation")) decisions.invalidate();
    if (type === "scan.deleted") {
      const { scan_id: id } = fields;
      deletedScans.add(id);
      scans.remove(id);
      onChange();
    }
    if (type === "organization.updated") organizations.put(parseOrganization(data));
    if (type === "organization.deleted") organizations.remove(fields["organization_id"]);
    if (type === "scan.end") scans.change(fields["scan_id"], (scan) => applyToScan(scan, type, fields));
    if (!type.startsWith("monitor.")) return;
    const id = fields["monitor_id"];
    if (type === "monitor.end" && fields["reason"] === "deleted") {
      monitors.remove(id);
      return;
    }
    const isListed = monitors.change(id, (monitor) => applyMonitorEvent(monitor, type, data, api.nowMs()));
    // The next open of the stream finds it, too.
    if (!isListed && typeof id === "string") {
      api.getMonitor(id, signal).then(
        (monitor) => monitors.add(monitor),
        () => undefined,
      );
    }
  }

  function retryNow(): void {
    if (connection.state === "failed") follow();
    else subscription?.retryNow();
  }

  function onVisibility(): void {
    clearTimeout(hiding);
    if (document.visibilityState === "hidden") {
      hiding = setTimeout(() => {
        subscription?.close();
        subscription = null;
        connection = { ...connection, state: "connecting", problem: null, retryAtMs: null };
      }, hiddenForMs);
    } else if (subscription === null) follow();
  }

  document.addEventListener("visibilitychange", onVisibility, { signal });
  follow();
  return {
    scans,
    monitors,
    organizations,
    lastChanges,
    decisions,
    deletedScans,
    get connection() {
      return connection;
    },
    retryNow,
    close() {
      clearTimeout(hiding);
      closing.abort();
    },
  };
}
