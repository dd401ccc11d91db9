import type { Monitor } from "../monitor_wire.ts";
import type { Organization } from "../organization_wire.ts";
import { isEnded, type Scan } from "../scan_wire.ts";
import { hasTried, type Connection } from "./connection.ts";
import { toOrigin } from "./decisions/decision_index.ts";
import { watchStateOf, type WatchState } from "./watch_state.ts";

/** One organization of the overview: what is stored of it, and what its monitor says now. */
export interface OverviewRow {
  readonly organization: Organization;
  /** Null: it has none, or it is not known yet. */
  readonly monitor: Monitor | null;
  /** Null: nobody watches it. */
  readonly watch: WatchState | null;
  /** Nobody looks at it any more. */
  readonly isEnded: boolean;
}

interface OverviewSource {
  readonly organizations: { readonly items: readonly Organization[] | null };
  readonly monitors: { readonly items: readonly Monitor[] };
  readonly scans: { readonly items: readonly Scan[] };
  readonly connection: Pick<Connection, "state" | "problem" | "refetchedAtMs">;
}

export type OverviewFilter = "all" | "cat1" | "attention";

/** After so long without a scan and without a monitor an organization is folded. */
const forgottenAfterMs = 30 * 86_400_000;
const problems: readonly (WatchState | null)[] = ["stale", "blind", "delayed", "stopped"];

/**
 * All organizations, worst first, as of now. Null: they and their monitors are not read yet. Without the monitors the order
 * would be another one, so they are left out only when they could not be read.
 */
export function toOverview(tenant: OverviewSource, nowMs: number): readonly OverviewRow[] | null {
  if (!hasTried(tenant.connection)) return null;
  const isLive = tenant.connection.state === "live";
  const scanned = new Set(tenant.scans.items.flatMap((scan) => (isEnded(scan.status) ? [] : [toOrigin(scan.orgUrl)])));
  const byId = new Map(tenant.monitors.items.map((monitor) => [monitor.id, monitor]));
  const rows = tenant.organizations.items?.map((organization): OverviewRow => {
    const monitor = byId.get(organization.monitor_id ?? "") ?? null;
    const isWatched = organization.monitor_id !== null && organization.monitor_status !== "ended";
    const scannedAtMs = organization.last_scan_at === null ? 0 : Date.parse(organization.last_scan_at);
    const isLookedAt = isWatched || monitor?.status === "running" || scanned.has(organization.org_url);
    const watch =
      organization.monitor_id === null ? null : isLive && monitor !== null ? watchStateOf(monitor, nowMs) : "unknown";
    return { organization, monitor, watch, isEnded: !isLookedAt && nowMs - scannedAtMs > forgottenAfterMs };
  });
  return rows?.toSorted(byWorst) ?? null;
}

/** By name or address, each word of it. */
export function filterOverview(
  rows: readonly OverviewRow[],
  { text, only }: { readonly text: string; readonly only: OverviewFilter },
): readonly OverviewRow[] {
  const words = text.toLowerCase().split(/\s+/);
  return rows.filter(({ organization, watch }) => {
    if (only === "cat1" && organization.cat1_open === 0) return false;
    if (only === "attention" && !needsAttention({ organization, watch })) return false;
    const haystack = `${organization.name} ${organization.org_url}`.toLowerCase();
    return words.every((word) => haystack.includes(word));
  });
}

/** What a person should look at first: CAT I is open, or what is shown may be old. */
export function needsAttention({ organization, watch }: Pick<OverviewRow, "organization" | "watch">): boolean {
  return organization.cat1_open > 0 || hasWatchProblem({ watch });
}

/** True: what is shown may be old, and somebody has to look at the monitor. */
export function hasWatchProblem({ watch }: Pick<OverviewRow, "watch">): boolean {
  return problems.includes(watch);
}

function byWorst(a: OverviewRow, b: OverviewRow): number {
  return (
    Number(a.isEnded) - Number(b.isEnded) ||
    b.organization.cat1_open - a.organization.cat1_open ||
    Number(hasWatchProblem(b)) - Number(hasWatchProblem(a)) ||
    b.organization.cat2_open - a.organization.cat2_open ||
    b.organization.cat3_open - a.organization.cat3_open ||
    notReviewed(b.organization) - notReviewed(a.organization) ||
    (a.organization.name < b.organization.name ? -1 : 1)
  );
}

/** Rules that a person or a permission is missing for. */
export function notReviewed({ manual, unknown }: Pick<Organization, "manual" | "unknown">): number {
  return Math.max(manual, unknown);
}
