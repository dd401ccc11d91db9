import type { StreamEvent } from "../../../shared/client/subscribe.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import type { Decision } from "../../../shared/schemas/decision.ts";
import type { Monitor } from "../../../shared/schemas/monitor.ts";
import type { Organization } from "../../../shared/schemas/organization.ts";
import { overviewLimits, type Overview } from "../../features/tenant/overview_schema.ts";
import type { Scan } from "../../../shared/schemas/scan.ts";
import { dayMs } from "./format.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";

export type TenantEvent = StreamEvent<TenantEvents>;

/** A rule of CAT I that fails, with its failing findings. */
export type FailingRule = Overview["cat1"][number];

/** Everything of the tenant at one moment. It is replaced, never changed. */
export interface TenantState {
  readonly caller: Overview["session"];
  readonly organizations: readonly Organization[];
  readonly monitors: ReadonlyMap<string, Monitor>;
  /** Newest first: the newest ones, all that have not ended, and the older ones that were asked for. */
  readonly scans: readonly Scan[];
  /** The ones that hold, newest first. */
  readonly decisions: readonly Decision[];
  /** The newest changes of each monitor, newest first, without the first state. */
  readonly changes: ReadonlyMap<string, readonly Change[]>;
  /** False: there may be more. */
  readonly hasAllChanges: boolean;
  /** True: the rest of the organizations or decisions is being read. */
  readonly isPart: boolean;
  /** The rules of CAT I that fail, for each organization. */
  readonly cat1: ReadonlyMap<string, readonly FailingRule[]>;
  /** Newer changes are shown as new; null: the member was never here, or is an API key. */
  readonly seenAtMs: number | null;
}

/** From when on changes are new: without a time that was stored, the last day. */
export function sinceOf({ seenAtMs }: Pick<TenantState, "seenAtMs">, nowMs: number): number {
  return seenAtMs ?? nowMs - dayMs;
}

/** True: the overview has the newest of the list only. */
export function isCut(overview: Overview, list: "organizations" | "decisions" | "changes"): boolean {
  return overview[list].length === overviewLimits[list];
}

/** The state as the overview has it; null: it is the first one. */
export function withOverview(state: TenantState | null, overview: Overview): TenantState {
  const { session: caller, organizations, monitors, scans, decisions, changes, cat1, seen_at: seenAt } = overview;
  const listed = new Set(scans.map(({ id }) => id));
  const oldest = scans.toSorted(byNewest)[overviewLimits.scans - 1];
  // Of scans before the newest ones it does not tell; the others that it does not list were deleted.
  const older =
    state?.scans.filter((one) => !listed.has(one.id) && hasEnded(one.status) && oldest && byNewest(oldest, one) < 0) ??
    [];
  return {
    caller,
    organizations,
    monitors: new Map(monitors.map((monitor) => [monitor.id, monitor])),
    scans: [...scans, ...older].toSorted(byNewest),
    decisions,
    changes: Map.groupBy(changes, ({ monitor_id: id }) => id),
    hasAllChanges: !isCut(overview, "changes"),
    isPart: state === null && (isCut(overview, "organizations") || isCut(overview, "decisions")),
    cat1: Map.groupBy(cat1, ({ organization_id: id }) => id),
    // News of this visit stay news while the page is open.
    seenAtMs: state !== null ? state.seenAtMs : seenAt === null ? null : Date.parse(seenAt),
  };
}

/** The state after the event, as far as the event says it. */
export function withEvent(state: TenantState, event: TenantEvent, nowMs: number): TenantState {
  const { type, data } = event;
  const { scans, organizations, monitors } = state;
  if (type === "scan.created" || type === "scan.updated") return withScan(state, data);
  if (type === "scan.deleted") return { ...state, scans: withoutId(scans, data.scan_id) };
  if (type === "scan.end") {
    const known = scans.find(({ id }) => id === data.scan_id);
    return known === undefined
      ? state
      : withScan(state, { ...known, ...data, ended_at: new Date(nowMs).toISOString() });
  }
  if (type === "decision.created" || type === "decision.updated") return withDecision(state, data);
  if (type === "organization.updated") return { ...state, organizations: [...withoutId(organizations, data.id), data] };
  if (type === "organization.deleted") {
    return { ...state, organizations: withoutId(organizations, data.organization_id) };
  }
  const known = type === "monitor.updated" ? monitors.get(data.monitor_id) : undefined;
  if (type !== "monitor.updated" || known === undefined) return state;
  // The gateway itself sets `stale`; every other update is a report of the producer.
  const updated_at = data.status === "stale" ? known.updated_at : new Date(nowMs).toISOString();
  const error_detail = data.error_code === null ? null : known.error_detail;
  return { ...state, monitors: new Map(monitors).set(known.id, { ...known, ...data, updated_at, error_detail }) };
}

/** True: the event says that something changed, and the overview says what. */
export function isIncomplete({ type, data }: TenantEvent, { organizations, monitors }: TenantState): boolean {
  // The end of a scan may contradict an attestation.
  if (["finding.updated", "scan.end", "monitor.start", "monitor.error", "monitor.end"].includes(type)) return true;
  if (type === "organization.updated") {
    const known = organizations.find(({ id }) => id === data.id);
    // The event does not say which rule of CAT I it is.
    return known?.cat1_open !== data.cat1_open || known.monitor_id !== data.monitor_id;
  }
  return type === "monitor.updated" && !monitors.has(data.monitor_id);
}

export function withScan(state: TenantState, scan: Scan): TenantState {
  const known = state.scans.find(({ id }) => id === scan.id);
  // An event may be older than what was read.
  if (known !== undefined && hasEnded(known.status) && !hasEnded(scan.status)) return state;
  return { ...state, scans: [...withoutId(state.scans, scan.id), scan].toSorted(byNewest) };
}

export function withDecision(state: TenantState, decision: Decision): TenantState {
  const others = withoutId(state.decisions, decision.id);
  return { ...state, decisions: decision.state === "active" ? [decision, ...others] : others };
}

export function hasEnded(status: Scan["status"]): boolean {
  return status !== "pending" && status !== "running";
}

function withoutId<Item extends { readonly id: string }>(items: readonly Item[], id: string): readonly Item[] {
  return items.filter((item) => item.id !== id);
}

function byNewest(a: Scan, b: Scan): number {
  return Date.parse(b.created_at) - Date.parse(a.created_at);
}
