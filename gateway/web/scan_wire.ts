import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Severity, Status } from "../../shared/report.ts";
import type { ScanEndStatus } from "../../shared/scan_events.ts";

/** A scan as the page knows it. Times are milliseconds since the epoch. */
export interface Scan {
  readonly id: string;
  readonly tenantId: string;
  readonly orgUrl: string | null;
  readonly clientId: string | null;
  readonly status: ScanStatus;
  readonly checksTotal: number;
  readonly checksDone: number;
  /** Counts of checks. */
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
  readonly cancelRequested: boolean;
  readonly createdAtMs: number | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

export type ScanStatus = "pending" | "running" | ScanEndStatus;

/** What REST holds of a finding; an event holds less, then `expected` and what follows is null. */
export interface FindingRecord {
  readonly fingerprint: string;
  readonly check: string;
  readonly status: Status;
  readonly severity: Severity;
  readonly resourceName: string;
  readonly detail: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly reason: string | null;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  /** What of the rule a partial PASS leaves to a person. */
  readonly coverageReason: string | null;
  /** Does not count for the check's status. */
  readonly isAdvisory: boolean;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const scanStatuses: ReadonlySet<string> = new Set<ScanStatus>([
  "pending",
  "running",
  "completed",
  "cancelled",
  "failed",
  "expired",
]);

export function isEnded(status: ScanStatus): boolean {
  return status !== "pending" && status !== "running";
}

/** Throws `TypeError` for an answer that is not a scan: whoever answered is not the gateway. */
export function parseScan(value: unknown): Scan {
  const record = toRecord(value);
  const id = toText(record["id"]);
  const status = record["status"];
  if (id === null || !isScanStatus(status)) throw new TypeError("Cannot read the answer: it is not a scan");
  return {
    id,
    tenantId: toText(record["tenant_id"]) ?? "",
    orgUrl: toText(record["org_url"]),
    clientId: toText(record["client_id"]),
    status,
    checksTotal: toCount(record["checks_total"]),
    checksDone: toCount(record["checks_done"]),
    pass: toCount(record["pass"]),
    fail: toCount(record["fail"]),
    manual: toCount(record["manual"]),
    cancelRequested: record["cancel_requested"] === true,
    createdAtMs: toTimeMs(record["created_at"]),
    startedAtMs: toTimeMs(record["started_at"]),
    endedAtMs: toTimeMs(record["ended_at"]),
  };
}

/** Also reads the payload of `finding.created`. Throws `TypeError` for anything that is not a finding. */
export function parseFinding(value: unknown): FindingRecord {
  const record = toRecord(value);
  const resource = toRecord(record["resource"]);
  const fingerprint = toText(record["fingerprint"]);
  const { status, severity } = record;
  if (fingerprint === null || !isStatus(status)) throw new TypeError("Cannot read the answer: it is not a finding");
  return {
    fingerprint,
    check: toText(record["check"]) ?? "unknown",
    status,
    severity: severity === "high" || severity === "low" ? severity : "medium",
    resourceName: toText(record["resource_name"]) ?? toText(resource["name"]) ?? "",
    detail: toText(record["detail"]) ?? "",
    expected: toText(record["expected"]),
    actual: toText(record["actual"]),
    reason: toText(record["reason"]),
    resourceType: toText(record["resource_type"]) ?? toText(resource["type"]),
    resourceId: toText(record["resource_id"]) ?? toText(resource["id"]),
    coverageReason: toText(record["coverage_reason"]),
    isAdvisory: record["advisory"] === true,
  };
}

export function parsePage<Item>(value: unknown, parseItem: (item: unknown) => Item): Page<Item> {
  const { items, next_cursor: nextCursor } = toRecord(value) as {
    readonly items?: unknown;
    readonly next_cursor?: unknown;
  };
  if (!Array.isArray(items)) throw new TypeError("Cannot read the answer: it is not a list");
  return { items: items.map(parseItem), nextCursor: toText(nextCursor) };
}

export function toRecord(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function toText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function isStatus(value: unknown): value is Status {
  return value === "PASS" || value === "FAIL" || value === "MANUAL";
}

function isScanStatus(value: unknown): value is ScanStatus {
  return typeof value === "string" && scanStatuses.has(value);
}

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function toTimeMs(value: unknown): number | null {
  const timeMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}
