import type { organizations } from "../../../drizzle/schema.ts";
import type { Organization, OrganizationResource } from "../../../shared/schemas/organization.ts";
import { presentStatus, type MonitorLife } from "../monitor_life.ts";

export interface OrganizationRow {
  readonly stored: typeof organizations.$inferSelect;
  /** Null: it has none, or the last one was deleted. */
  readonly lastScanId: string | null;
  readonly monitor: (MonitorLife & { readonly id: string }) | null;
}

export interface ListedOrganization extends OrganizationRow {
  readonly trend: Organization["trend"];
}

/** As the events of its tenant carry it: flat, its id also under the name that events have for it. */
export function toOrganizationResource(row: OrganizationRow, nowMs: number): OrganizationResource {
  const { stored, lastScanId, monitor } = row;
  return {
    organization_id: stored.id,
    id: stored.id,
    org_url: stored.orgUrl,
    name: stored.orgUrl.replace(/^https?:\/\//, ""),
    pass: stored.pass,
    fail: stored.fail,
    manual: stored.manual,
    not_applicable: stored.notApplicable,
    unknown: stored.unknown,
    cat1_open: stored.cat1Open,
    cat2_open: stored.cat2Open,
    cat3_open: stored.cat3Open,
    last_scan_id: lastScanId,
    last_scan_at: stored.lastScanAt?.toISOString() ?? null,
    monitor_id: monitor?.id ?? null,
    monitor_status: monitor === null ? null : presentStatus(monitor, nowMs),
    open_exposures: stored.openExposures,
  };
}

export function toOrganization(row: ListedOrganization, nowMs: number): Organization {
  const { organization_id: _, ...flat } = toOrganizationResource(row, nowMs);
  return { ...flat, trend: row.trend };
}
