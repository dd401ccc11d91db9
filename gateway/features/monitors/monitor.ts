import type { changes, monitors } from "../../../drizzle/schema.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import type { Monitor, MonitorEvents } from "../../../shared/schemas/monitor.ts";
import { presentStatus } from "../monitor_life.ts";
import { monitorChannel } from "./events.ts";

export type MonitorRow = typeof monitors.$inferSelect;
export type ChangeRow = typeof changes.$inferSelect;

export function toMonitor(row: MonitorRow, nowMs: number): Monitor {
  return {
    id: row.id,
    monitor_id: row.id,
    tenant_id: row.tenantId,
    channel: monitorChannel(row.tenantId, row.id),
    event_stream: `/api/v1/monitors/${row.id}/event-stream`,
    status: presentStatus(row, nowMs),
    org_url: row.orgUrl,
    client_id: row.clientId,
    benchmark: row.benchmark,
    interval_seconds: row.intervalSeconds,
    checks_total: row.checksTotal,
    pass: row.pass,
    fail: row.fail,
    manual: row.manual,
    not_applicable: row.notApplicable,
    log_status: row.logStatus,
    error_code: row.errorCode,
    error_detail: row.errorDetail,
    last_look_at: row.lastLookAt?.toISOString() ?? null,
    lag_seconds: row.lagSeconds,
    last_change_at: row.lastChangeAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    started_at: row.startedAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}

/** The payload of `monitor.updated`, after the producer's report. */
export function toMonitorUpdated(row: MonitorRow): MonitorEvents["monitor.updated"] {
  return {
    monitor_id: row.id,
    status: row.status,
    log_status: row.logStatus,
    error_code: row.errorCode,
    last_look_at: row.lastLookAt?.toISOString() ?? null,
    lag_seconds: row.lagSeconds,
    checks_total: row.checksTotal,
    pass: row.pass,
    fail: row.fail,
    manual: row.manual,
    not_applicable: row.notApplicable,
  };
}

export function toChange(row: ChangeRow): Change {
  return {
    schema: "scanstream.change/1",
    id: row.id,
    check: row.check,
    fingerprint: row.fingerprint,
    resource: { type: row.resourceType, id: row.resourceId, name: row.resourceName },
    from: row.fromStatus === null ? null : { status: row.fromStatus, reason: row.fromReason },
    to: row.toStatus === null ? null : { status: row.toStatus, reason: row.toReason },
    from_waived: row.fromWaived,
    to_waived: row.toWaived,
    expected: row.expected,
    actual: row.actual,
    to_pass: row.toPass,
    rule: { status: row.ruleStatus, reason: row.ruleReason, severity: row.ruleSeverity },
    seen_at: row.seenAt.toISOString(),
    cause: row.cause,
    explained_by: row.explainedBy,
    also: row.also,
    created_at: row.createdAt.toISOString(),
  };
}
