import { pause } from "../../../shared/abortable.ts";
import { subscribe, type Subscription } from "../../../shared/client/subscribe.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import { decisionSchema, type Decision } from "../../../shared/schemas/decision.ts";
import { organizationSchema } from "../../../shared/schemas/organization.ts";
import { pageOf } from "../../../shared/schemas/primitives.ts";
import { overviewSchema, type Overview } from "../../features/tenant/overview_schema.ts";
import { scanSchema } from "../../../shared/schemas/scan.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";
import { type Api, decisionsPath, toScanPath } from "./api.ts";
import { noConnection, toConnection, toProblem, type Connection } from "./connection.ts";
import {
  isCut,
  isIncomplete,
  sinceOf,
  withDecision,
  withEvent,
  withOverview,
  withScan,
  type TenantEvent,
  type TenantState,
} from "./tenant_state.ts";

/** Called with each event, and with null when the stream is open again and events may have been missed. */
type Listener = (event: TenantEvent | null) => void;

/** The tenant as it is now. Its functions are the same in every snapshot. */
export interface Tenant extends TenantState {
  readonly connection: Connection;
  /** Time up to which a hidden tab has read; infinite while it is shown. */
  readonly readUntilMs: number;
  readonly retryNow: () => void;
  /** Takes what there is now as seen, and these changes: the gateway's clock may be ahead of what its last answer told. */
  readonly markSeen: (shown: readonly Change[]) => void;
  readonly put: (decision: Decision) => void;
  /** Reads a scan that is not listed. Rejects as `Api` does. */
  readonly findScan: (id: string, signal: AbortSignal) => Promise<void>;
  /** Reads the newest scans of an organization: of many organizations only a few are listed. Rejects as `Api` does. */
  readonly findScansOf: (orgUrl: string, signal: AbortSignal) => Promise<void>;
  /** Calls back until the function that it returns is called. */
  readonly listen: (listener: Listener) => () => void;
}

export interface TenantStoreOptions {
  /** It was read together with the session. */
  readonly overview: Overview;
  readonly onChange: () => void;
  /** The gateway shows this person nothing of the tenant any more. */
  readonly onRefused: () => void;
}

/** A tab that nobody looks at has no stream: over HTTP/1.1 a browser has six connections for all tabs. */
const hiddenForMs = 5000;
/** Its title still says what needs somebody; whoever is away for so long has seen what there was before. */
const hiddenReadMs = 60_000;
const seenTimeoutMs = 3000;
const readPauseMs = 500;
const retryMs = 5000;

/** Keeps the tenant true on one connection: the overview is read on every open of its stream, then events. */
export function createTenantStore(api: Api, { overview, onChange, onRefused }: TenantStoreOptions) {
  const closing = new AbortController();
  const { signal } = closing;
  const listeners = new Set<Listener>();
  /** Events that came while an overview was read; it may be older than they are. */
  const meanwhile = new Set<TenantEvent[]>();
  let subscription: Subscription<TenantEvents> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: Tenant = {
    ...withOverview(null, overview),
    connection: noConnection,
    readUntilMs: document.visibilityState === "hidden" ? api.nowMs() : Infinity,
    retryNow() {
      if (current.connection.state === "failed") follow();
      else subscription?.retryNow();
    },
    markSeen(shown) {
      const storedMs = shown.map(({ created_at }) => Date.parse(created_at));
      change({ seenAtMs: Math.max(api.nowMs(), ...storedMs) });
      storeSeen();
    },
    put: (decision) => change(withDecision(current, decision)),
    async findScan(id, signal) {
      const scan = await api.get(toScanPath(id), scanSchema, signal);
      change(withScan(current, scan));
    },
    async findScansOf(orgUrl, signal) {
      const path = `api/v1/scans?org_url=${encodeURIComponent(orgUrl)}`;
      const { items } = await api.get(path, pageOf(scanSchema), signal);
      change(items.reduce(withScan, current));
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  let leftAtMs = current.seenAtMs;

  function change(changed: Partial<Tenant>): void {
    current = { ...current, ...changed };
    if (!signal.aborted) onChange();
  }

  async function read(signal: AbortSignal): Promise<void> {
    const events: TenantEvent[] = [];
    meanwhile.add(events);
    try {
      const since = new Date(sinceOf(current, api.nowMs())).toISOString();
      const overview = await api.get(`api/v1/overview?since=${since}`, overviewSchema, signal);
      const next = withOverview(current, { ...overview, ...(await readWhole(overview, signal)) });
      change(events.reduce((state, event) => withEvent(state, event, api.nowMs()), next));
    } finally {
      meanwhile.delete(events);
    }
  }

  /** The lists of which the overview has the newest only. */
  async function readWhole(overview: Overview, signal: AbortSignal): Promise<Partial<Overview>> {
    const held = { query: { active: "true" }, signal };
    return {
      ...(isCut(overview, "organizations") && {
        organizations: await api.list("api/v1/organizations", organizationSchema, { signal }),
      }),
      ...(isCut(overview, "decisions") && { decisions: await api.list(decisionsPath, decisionSchema, held) }),
    };
  }

  async function catchUp(signal: AbortSignal): Promise<void> {
    await read(signal);
    for (const listener of listeners) listener(null);
  }

  const readAgain = oneAtATime(async () => {
    const beganMs = performance.now();
    // The next event, or the next open of the stream, reads it again.
    await read(signal).catch(() => undefined);
    // Leaves a gateway to which it is much work half of the time for others.
    await pause(Math.max(readPauseMs, performance.now() - beganMs), [signal]);
  });

  function apply(event: TenantEvent): void {
    for (const events of meanwhile) events.push(event);
    if (isIncomplete(event, current)) readAgain();
    change(withEvent(current, event, api.nowMs()));
    for (const listener of listeners) listener(event);
  }

  function follow(): void {
    clearTimeout(timer);
    subscription = subscribe<TenantEvents>(new URL("api/v1/event-stream", document.baseURI), {
      signal,
      fetch: api.fetchStream,
      // The first opening comes right after what was read with the session, but not in the same moment.
      refetch: catchUp,
      onEvent: apply,
      onStateChange(state, detail) {
        // It ended with its token, which has a successor already, or with its lifetime. The pause that this cuts short begins after this call.
        if (detail.error?.code === "closed" && ["expired", "lifetime"].includes(detail.error.detail ?? ""))
          return queueMicrotask(() => subscription?.retryNow());
        change({ connection: toConnection(state, detail) });
        if (state !== "failed") return;
        // Without the gateway's words it comes from a proxy, while the gateway is away.
        if (!detail.error?.detail) timer = setTimeout(follow, retryMs);
        else if (["permission_denied", "not_found"].includes(detail.error.code)) onRefused();
      },
    });
  }

  /** Stores at the gateway that everything until now was seen; the request outlives the page. */
  function storeSeen(): void {
    const request = { signal: AbortSignal.timeout(seenTimeoutMs), keepalive: true };
    api.send("PUT", "api/v1/seen", request).catch(() => undefined);
  }

  function onVisibility(): void {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") {
      storeSeen();
      leftAtMs = api.nowMs();
      timer = setTimeout(() => {
        subscription?.close();
        subscription = null;
        void readHidden();
      }, hiddenForMs);
    } else if (subscription === null) {
      change({ connection: noConnection, readUntilMs: Infinity });
      follow();
    } else current.retryNow();
  }

  async function readHidden(seenAtMs = current.seenAtMs): Promise<void> {
    change({ seenAtMs });
    const outcome = await catchUp(signal).then(
      () => ({ connection: noConnection, readUntilMs: api.nowMs() }),
      (error: unknown) => ({
        connection: { ...noConnection, state: "reconnecting" as const, problem: toProblem(error) },
      }),
    );
    if (subscription !== null || signal.aborted) return;
    change(outcome);
    timer = setTimeout(() => void readHidden(leftAtMs), hiddenReadMs);
  }

  document.addEventListener("visibilitychange", onVisibility, { signal });
  api.refusals.addEventListener("forbidden", readAgain, { signal });
  // A link that was opened in the background waits there.
  if (document.visibilityState === "hidden") void readHidden();
  else follow();
  return {
    get current() {
      return current;
    },
    close() {
      clearTimeout(timer);
      storeSeen();
      closing.abort();
    },
  };
}

/** Returns a function that starts `work`. Calls during a run cause one more run after it, unless that run rejects. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isDue = false;
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    try {
      while (isDue) {
        isDue = false;
        await work();
      }
    } catch {
      // It was closed.
    }
    isRunning = false;
  }

  return () => {
    isDue = true;
    if (!isRunning) void run();
  };
}
