import * as v from "valibot";
import { findingEntries, statusSchema } from "./finding.ts";
import { count, described, exactOptionalEntries, oneOf, text, time, uuid, type Output } from "./primitives.ts";
import { webAddress } from "./web_address.ts";

/** How a scan ends; after that nothing changes it. `expired` is the gateway's own: its producer went silent. */
export const scanEndStatusSchema = v.picklist(["completed", "cancelled", "failed", "expired"]);
const scanStatusSchema = v.picklist(["pending", "running", ...scanEndStatusSchema.options]);

/** Counts of rules; each rule is in one of them. */
export const statusCountsEntries = {
  pass: count,
  fail: count,
  manual: described(count, "Rules that need manual review"),
  not_applicable: described(count, "Rules that do not apply to the organization"),
};

/** The fields that a scan and a monitor have alike. */
export const runEntries = {
  id: uuid(),
  tenant_id: uuid(),
  channel: described(v.string(), "Where its events are published"),
  event_stream: described(v.string(), "Path of its event stream"),
  client_id: v.nullable(v.string()),
  benchmark: described(v.nullable(v.string()), "The revision of the STIG; null: the producer did not say"),
  checks_total: described(count, "0 while it is not known"),
  ...statusCountsEntries,
  created_at: time,
  updated_at: described(time, "The producer's last report"),
  ended_at: v.nullable(time),
};

/** The fields that a producer registers either with. */
export const registrationEntries = {
  client_id: v.exactOptional(v.nullable(text(1, 200))),
  benchmark: v.exactOptional(v.nullable(text(1, 200))),
  checks_total: v.exactOptional(count),
};

export const scanSchema = v.object({
  ...runEntries,
  status: scanStatusSchema,
  org_url: v.nullable(v.string()),
  checks_done: count,
  cancel_requested: v.boolean(),
  started_at: v.nullable(time),
});

export const newScanSchema = v.strictObject({
  org_url: v.exactOptional(v.nullable(webAddress)),
  ...registrationEntries,
});

/** Nothing goes back to `pending`. */
const updatedStatus = oneOf("running", "completed", "cancelled", "failed");

export const scanUpdateSchema = v.strictObject(
  exactOptionalEntries({ status: updatedStatus, checks_done: count, checks_total: count, ...statusCountsEntries }),
);

const scan_id = uuid();
const finding = v.object(findingEntries);
/** The fields without which a finding cannot be shown. */
const shownFields = ["check", "status", "severity", "resource_name", "detail", "fingerprint"] as const;

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
    ...v.pick(finding, shownFields).entries,
    ...exactOptionalEntries(v.omit(finding, shownFields).entries),
  }),
  "scan.error": v.object({ scan_id, code: v.string(), detail: v.string() }),
  "scan.end": v.object({ scan_id, status: scanEndStatusSchema, ...statusCountsEntries }),
};

export type ScanStatus = Output<typeof scanStatusSchema>;
export type ScanEndStatus = Output<typeof scanEndStatusSchema>;
export type Scan = Output<typeof scanSchema>;
export type NewScan = Output<typeof newScanSchema>;
export type ScanUpdate = Output<typeof scanUpdateSchema>;

/** The event map of a scan's stream, for `subscribe<ScanEvents>`. */
export type ScanEvents = { readonly [Type in keyof typeof scanEventSchemas]: Output<(typeof scanEventSchemas)[Type]> };
export type ScanEventType = keyof ScanEvents;

export type ScanStart = ScanEvents["scan.start"];
export type ScanProgress = ScanEvents["scan.progress"];
export type FindingCreated = ScanEvents["finding.created"];
export type ScanError = ScanEvents["scan.error"];
export type ScanEnd = ScanEvents["scan.end"];
