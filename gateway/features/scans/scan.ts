import { scanChannel, type ScanEndStatus } from "../../../shared/scan_events.ts";
import type { findings, scans, StoredScanStatus } from "../../../drizzle/schema.ts";

export type ScanRow = typeof scans.$inferSelect;
export type FindingRow = Omit<typeof findings.$inferSelect, "tenantId" | "scanId">;

/** A scan as the API shows it. Times are ISO 8601 in UTC. */
export interface Scan {
  readonly id: string;
  readonly tenant_id: string;
  readonly channel: string;
  /** The path of its event stream. */
  readonly event_stream: string;
  readonly status: StoredScanStatus;
  readonly org_url: string | null;
  readonly client_id: string | null;
  /** 0 while the producer has not said how many. */
  readonly checks_total: number;
  readonly checks_done: number;
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
  readonly cancel_requested: boolean;
  readonly created_at: string;
  /** The producer's last sign of life. */
  readonly updated_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export function toScan(row: ScanRow): Scan {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    channel: scanChannel(row.tenantId, row.id),
    event_stream: `/api/v1/scans/${row.id}/event-stream`,
    status: row.status,
    org_url: row.orgUrl,
    client_id: row.clientId,
    checks_total: row.checksTotal,
    checks_done: row.checksDone,
    pass: row.pass,
    fail: row.fail,
    manual: row.manual,
    cancel_requested: row.cancelRequested,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}

/** A stored finding, with the words of the `finding.created` event, so that a client merges both. */
export function toFinding(row: FindingRow): Readonly<Record<string, string | boolean | null>> {
  return {
    fingerprint: row.fingerprint,
    check: row.check,
    status: row.status,
    reason: row.reason,
    severity: row.severity,
    resource_type: row.resourceType,
    resource_id: row.resourceId,
    resource_name: row.resourceName,
    expected: row.expected,
    actual: row.actual,
    detail: row.detail,
    coverage: row.coverage,
    coverage_reason: row.coverageReason,
    advisory: row.advisory,
    created_at: row.createdAt.toISOString(),
  };
}

/** After one of the end statuses nothing changes a scan. */
export function hasEnded(status: StoredScanStatus): status is ScanEndStatus {
  return status !== "pending" && status !== "running";
}
