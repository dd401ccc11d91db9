import * as v from "valibot";
import { findingEntries, statusSchema } from "./finding.ts";
import { count, exactOptionalEntries, text, uuid, type Output } from "./primitives.ts";
import { scanEndStatusSchema, statusCountsEntries } from "./scan.ts";

const scan_id = uuid();
const { check, status, severity, resource_name, detail, fingerprint, ...others } = findingEntries;

/** The payloads of a scan's events, by type. */
export const scanEventSchemas = {
  "scan.start": v.object({ scan_id, checks_total: count }),
  "scan.progress": v.object({
    scan_id,
    checks_done: count,
    checks_total: count,
    check: text(1, 200),
    status: statusSchema,
    reason: v.exactOptional(findingEntries.reason),
  }),
  /** The whole finding. A producer may leave out what it does not have, or what an event has no room for. */
  "finding.created": v.object({
    scan_id,
    check,
    status,
    severity,
    resource_name,
    detail,
    fingerprint,
    ...exactOptionalEntries(others),
  }),
  "scan.error": v.object({ scan_id, code: v.string(), detail: v.string() }),
  "scan.end": v.object({ scan_id, status: scanEndStatusSchema, ...statusCountsEntries }),
};

/** The event map of a scan's stream, for `subscribe<ScanEvents>`. */
export type ScanEvents = { readonly [Type in keyof typeof scanEventSchemas]: Output<(typeof scanEventSchemas)[Type]> };
export type ScanEventType = keyof ScanEvents;

export type ScanStart = ScanEvents["scan.start"];
export type ScanProgress = ScanEvents["scan.progress"];
export type FindingCreated = ScanEvents["finding.created"];
export type ScanError = ScanEvents["scan.error"];
export type ScanEnd = ScanEvents["scan.end"];
