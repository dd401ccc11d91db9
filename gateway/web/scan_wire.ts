import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { manualReasonSchema, statusSchema, storedFindingSchema } from "../../shared/schemas/finding.ts";
import { mapNotes } from "../../shared/schemas/finding_notes.ts";
import type { StatusCounts } from "../../shared/report.ts";
import type { Verdict } from "../../shared/rule_result.ts";
import { scanSchema, type ScanStatus } from "../../shared/schemas/scan.ts";

export type { ScanStatus } from "../../shared/schemas/scan.ts";

/** A scan as the page knows it. Times are milliseconds since the epoch. */
export interface Scan {
  readonly id: string;
  readonly orgUrl: string | null;
  readonly clientId: string | null;
  readonly benchmark: string | null;
  readonly status: ScanStatus;
  readonly checksTotal: number;
  readonly checksDone: number;
  /** Counts of rules. */
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
  readonly notApplicable: number;
  readonly cancelRequested: boolean;
  readonly createdAtMs: number | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export function isEnded(status: ScanStatus): boolean {
  return status !== "pending" && status !== "running";
}

/** Throws `TypeError` for an answer that is not a scan: then it is not the gateway's. */
export function parseScan(value: unknown): Scan {
  const scan = parse(scanSchema, value, "a scan");
  return {
    id: scan.id,
    orgUrl: scan.org_url,
    clientId: scan.client_id,
    benchmark: scan.benchmark,
    status: scan.status,
    checksTotal: scan.checks_total,
    checksDone: scan.checks_done,
    pass: scan.pass,
    fail: scan.fail,
    manual: scan.manual,
    notApplicable: scan.not_applicable,
    cancelRequested: scan.cancel_requested,
    createdAtMs: toTimeMs(scan.created_at),
    startedAtMs: toTimeMs(scan.started_at),
    endedAtMs: toTimeMs(scan.ended_at),
  };
}

const { entries } = storedFindingSchema;

/** An event holds less than REST, then `expected` and others are null; and any key of the tenant may publish one with less still. */
const findingSchema = v.object({
  fingerprint: entries.fingerprint,
  status: entries.status,
  check: v.fallback(entries.check, "unknown"),
  severity: v.fallback(entries.severity, "medium"),
  resource_name: v.fallback(entries.resource_name, ""),
  detail: v.fallback(entries.detail, ""),
  expected: v.fallback(v.nullable(entries.expected), null),
  actual: v.fallback(v.nullable(entries.actual), null),
  reason: v.fallback(entries.reason, null),
  resource_type: v.fallback(v.nullable(entries.resource_type), null),
  resource_id: v.fallback(v.nullable(entries.resource_id), null),
  automated: v.fallback(entries.automated, null),
  cause: v.fallback(entries.cause, null),
  ...mapNotes((name) => v.fallback(entries[name], null)),
  advisory: v.fallback(entries.advisory, false),
});

export type FindingRecord = v.InferOutput<typeof findingSchema>;

/** Also reads the payload of `finding.created`. Throws `TypeError` for anything that is not a finding. */
export function parseFinding(value: unknown): FindingRecord {
  return parse(findingSchema, value, "a finding");
}

/** Throws `TypeError` for an answer of another form. */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  what: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new TypeError(`Cannot read the answer: it is not ${what}`);
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

/** The verdict of an event's payload; null where it has none. */
export function parseVerdict({ status, reason }: JsonObject): Verdict | null {
  if (!v.is(statusSchema, status)) return null;
  return { status, reason: v.is(manualReasonSchema, reason) ? reason : null };
}

/** The counts of a scan, or of a monitor, by state. */
export function toCounts(counts: Pick<Scan, "pass" | "fail" | "manual" | "notApplicable">): StatusCounts {
  const { pass, fail, manual, notApplicable } = counts;
  return { pass, fail, manual, not_applicable: notApplicable };
}

function toTimeMs(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
