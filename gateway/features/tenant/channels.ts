import { desc, isNotNull, isNull, sql } from "drizzle-orm";
import { monitors, scans, tenants } from "../../../drizzle/schema.ts";
import { defineEventStream, type ChannelsRequest, type Snapshot } from "../../streaming/define_event_stream.ts";
import { toMonitor } from "../monitors/monitor.ts";
import { toOrganizationResource } from "../organizations/organization.ts";
import { selectOrganizationRows } from "../organizations/organization_store.ts";
import { toScanResource } from "../scans/scan.ts";
import { tenantChannel, tenantPrefix } from "../tenant_events.ts";

/** More are left to the lists, which have pages. */
const maxSnapshots = 1000;

/** The scans that have not ended, all monitors and all organizations, newest first. */
async function getSnapshot({ db, principal }: Pick<ChannelsRequest, "db" | "principal">): Promise<Snapshot> {
  const [scanRows, monitorRows, organizationRows, [newestEnded], [tenantRow]] = await Promise.all([
    db
      .select()
      .from(scans)
      // Written out as the index has it: with parameters a prepared statement does not find the index.
      .where(sql`${scans.status} in ('pending', 'running')`)
      .orderBy(desc(scans.createdAt), desc(scans.id))
      .limit(maxSnapshots),
    db
      .select()
      .from(monitors)
      .where(isNull(monitors.deletedAt))
      .orderBy(desc(monitors.createdAt), desc(monitors.id))
      .limit(maxSnapshots),
    selectOrganizationRows(db, { limit: maxSnapshots }),
    db
      .select({ id: scans.id })
      .from(scans)
      .where(isNotNull(scans.endedAt))
      .orderBy(desc(scans.createdAt), desc(scans.id))
      .limit(1),
    db.select({ deletedScans: tenants.deletedScans }).from(tenants),
  ]);
  const nowMs = Date.now();
  return {
    events: [
      {
        type: "tenant.snapshot",
        data: {
          tenant_id: principal.tenantId,
          count: scanRows.length,
          monitors: monitorRows.length,
          organizations: organizationRows.length,
          newest_ended_scan_id: newestEnded?.id ?? null,
          deleted_scans: tenantRow?.deletedScans ?? 0,
        },
      },
      ...scanRows.map((row) => ({ type: "scan.snapshot" as const, data: toScanResource(row) })),
      ...monitorRows.map((row) => ({ type: "monitor.snapshot" as const, data: toMonitor(row, nowMs) })),
      ...organizationRows.map((row) => ({
        type: "organization.snapshot" as const,
        data: toOrganizationResource(row, nowMs),
      })),
    ],
  };
}

/** `GET /event-stream`: all scans, monitors and organizations of the tenant. It outlives each of them. */
export const tenantEventStream = defineEventStream({
  prefix: tenantPrefix,
  path: "/event-stream",
  getChannels: ({ principal }) => [tenantChannel(principal.tenantId)],
  getSnapshot,
});
