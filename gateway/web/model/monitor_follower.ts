import { pause } from "../../../shared/abortable.ts";
import { parseMonitor, type Change, type Monitor } from "../monitor_wire.ts";
import { toMonitorPath, type Api } from "./api.ts";
import { toFinding } from "./change_view.ts";
import { noChanges, withNewer, withOlder } from "./change_window.ts";
import {
  continueAfterExpiry,
  noConnection,
  rethrowAsFinal,
  toConnection,
  toProblem,
  type Connection,
} from "./connection.ts";
import { applyMonitorEvent } from "./monitor_model.ts";
import { followResource } from "./resource_stream.ts";
import type { Finding } from "./scan_model.ts";

/** One monitor, kept true: state on every open of the stream, then what its events say to read. */
export interface MonitorFollower {
  readonly monitor: Monitor | null;
  /** The present verdicts, by fingerprint. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Newest first, without the first state. */
  readonly changes: readonly Change[];
  /** The ones that came while the page watched. */
  readonly freshIds: ReadonlySet<string>;
  /** Older ones were left out: the page keeps no more. */
  readonly isCut: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why older changes could not be read. */
  readonly problem: string | null;
  readonly connection: Connection;
  loadMore(): void;
  readonly readHistory: (fingerprint: string, signal: AbortSignal) => Promise<readonly Change[]>;
  readonly retryNow: () => void;
  close(): void;
}

const pageLimit = 200;
const timelineLimit = 50;
/** Beyond this many pages of new changes everything is read again. */
const maxCatchUpPages = 10;
const retryEveryMs = 3000;

export function followMonitor(api: Api, monitorId: string, onChange: () => void): MonitorFollower {
  const closing = new AbortController();
  const findings = new Map<string, Finding>();
  let findingCount = 0;
  let monitor: Monitor | null = null;
  let timeline = noChanges;
  let freshIds: ReadonlySet<string> = new Set();
  let isLoadingMore = false;
  let problem: string | null = null;
  let connection = noConnection;
  let isCatchUpDue = false;
  let catchingUp: Promise<void> | null = null;
  let hasSnapshot = false;
  function connect(change: Partial<Connection>): void {
    connection = { ...connection, ...change };
    onChange();
  }

  function apply(change: Change): void {
    const known = findings.get(change.fingerprint);
    if (known === undefined) findingCount += 1;
    const finding = toFinding(change, known?.order ?? findingCount);
    if (finding === null) findings.delete(change.fingerprint);
    else findings.set(change.fingerprint, finding);
  }

  async function load(signal: AbortSignal): Promise<void> {
    // What it reads would be older than what is read now.
    await catchingUp;
    await loadAll(signal);
  }

  async function loadAll(signal: AbortSignal): Promise<void> {
    // The stream may have given it already.
    if (!hasSnapshot) monitor = await api.getMonitor(monitorId, signal);
    hasSnapshot = false;
    onChange();
    const first = await api.listChanges(monitorId, { limit: timelineLimit, cursor: null, signal });
    const known = new Set(timeline.changes.map(({ id }) => id));
    const isConnected = first.items.some(({ id }) => known.has(id));
    timeline = isConnected ? withNewer(timeline, first.items) : withOlder(noChanges, first.items, first.nextCursor);
    const present: Change[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await api.listVerdicts(monitorId, { limit: pageLimit, cursor, signal });
      present.push(...page.items);
      // The first time they appear as they arrive; later the old ones stay until all new ones are there.
      if (connection.refetchedAtMs === null) for (const change of page.items) apply(change);
      onChange();
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    findings.clear();
    for (const change of present) apply(change);
    connect({ refetchedAtMs: api.nowMs() });
  }

  /** Reads the changes that are new; of many events at once only the first and the last cause a reading. */
  function catchUp(): void {
    isCatchUpDue = true;
    catchingUp ??= readNew().finally(() => {
      catchingUp = null;
    });
  }

  async function readNew(): Promise<void> {
    while (isCatchUpDue && !closing.signal.aborted) {
      isCatchUpDue = false;
      try {
        await readNewChanges(closing.signal);
      } catch {
        isCatchUpDue = true;
        await pause(retryEveryMs, [closing.signal]);
      }
    }
  }

  async function readNewChanges(signal: AbortSignal): Promise<void> {
    const known = new Set(timeline.changes.map(({ id }) => id));
    const fresh: Change[] = [];
    let cursor: string | null = null;
    for (let count = 0; ; count += 1) {
      const page = await api.listChanges(monitorId, { limit: timelineLimit, cursor, signal });
      const found = page.items.findIndex(({ id, cause }) => known.has(id) || cause === "start");
      fresh.push(...(found === -1 ? page.items : page.items.slice(0, found)));
      if (found !== -1 || page.nextCursor === null) break;
      if (count >= maxCatchUpPages) return loadAll(signal);
      cursor = page.nextCursor;
    }
    for (const change of fresh.toReversed()) apply(change);
    timeline = withNewer(timeline, fresh);
    freshIds = new Set(fresh.map(({ id }) => id));
    onChange();
  }

  function applyEvent(type: string, data: object): void {
    if (type === "finding.updated") catchUp();
    if (monitor === null) return;
    monitor = applyMonitorEvent(monitor, type, data, api.nowMs());
    onChange();
  }

  async function loadMore(): Promise<void> {
    const cursor = timeline.nextCursor;
    if (isLoadingMore || cursor === null) return;
    isLoadingMore = true;
    problem = null;
    onChange();
    try {
      const { signal } = closing;
      const page = await api.listChanges(monitorId, { limit: timelineLimit, cursor, signal });
      // Else the timeline began again in the meantime.
      if (cursor === timeline.nextCursor) timeline = withOlder(timeline, page.items, page.nextCursor);
    } catch (error) {
      if (closing.signal.aborted) return;
      problem = toProblem(error);
    }
    isLoadingMore = false;
    onChange();
  }

  const retryNow = followResource(api, {
    signal: closing.signal,
    path: toMonitorPath(monitorId),
    onSnapshot(data) {
      if (data === undefined) return;
      monitor = parseMonitor(data);
      hasSnapshot = true;
    },
    refetch: (signal) => rethrowAsFinal(load(signal)),
    onEvent: applyEvent,
    onEnded: () => connect({ state: "ended", problem: null, retryAtMs: null }),
    onStateChange(state, detail) {
      // For an ended monitor there is no snapshot.
      if (state === "reconnecting") hasSnapshot = false;
      if (continueAfterExpiry(detail, () => retryNow())) return;
      connect(toConnection(state, detail));
    },
  });
  return {
    get monitor() {
      return monitor;
    },
    findings,
    get changes() {
      return timeline.changes;
    },
    get freshIds() {
      return freshIds;
    },
    get isCut() {
      return timeline.isCut;
    },
    get hasMore() {
      return timeline.nextCursor !== null;
    },
    get isLoadingMore() {
      return isLoadingMore;
    },
    get problem() {
      return problem;
    },
    get connection() {
      return connection;
    },
    loadMore: () => void loadMore(),
    async readHistory(fingerprint, signal) {
      return (await api.listChanges(monitorId, { limit: pageLimit, cursor: null, signal, fingerprint })).items;
    },
    retryNow,
    close: () => closing.abort(),
  };
}
