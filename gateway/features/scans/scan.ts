import { scanChannel } from "../../../shared/scan_events.ts";
import type { Scan, ScanEndStatus, ScanStatus } from "../../../shared/schemas/scan.ts";
import type { ScanResource } from "../../../shared/schemas/tenant_events.ts";
import type { scans } from "../../../drizzle/schema.ts";

export type ScanRow = typeof scans.$inferSelect;

export function toScan(row: ScanRow): Scan {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    channel: scanChannel(row.tenantId, row.id),
    event_stream: `/api/v1/scans/${row.id}/event-stream`,
    status: row.status,
    org_url: row.orgUrl,
    client_id: row.clientId,
    benchmark: row.benchmark,
    checks_total: row.checksTotal,
    checks_done: row.checksDone,
    pass: row.pass,
    fail: row.fail,
    manual: row.manual,
    not_applicable: row.notApplicable,
    cancel_requested: row.cancelRequested,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}

/** As the events of its tenant carry it: flat, its id also under the name that events have for it. */
export function toScanResource(row: ScanRow): ScanResource {
  return { scan_id: row.id, ...toScan(row) };
}

/** After one of the end statuses nothing changes a scan. */
export function hasEnded(status: ScanStatus): status is ScanEndStatus {
  return status !== "pending" && status !== "running";
}
