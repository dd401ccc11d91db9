import * as v from "valibot";
import { count, text, time, uuid, type Output } from "./primitives.ts";

/** How a scan ends; after that nothing changes it. `expired` is the gateway's own: its producer went silent. */
export const scanEndStatusSchema = v.picklist(["completed", "cancelled", "failed", "expired"]);
const scanStatusSchema = v.picklist(["pending", "running", ...scanEndStatusSchema.options]);

/** Counts of rules; each rule is in one of them. */
export const statusCountsEntries = {
  pass: count,
  fail: count,
  manual: v.pipe(count, v.description("Rules that need manual review")),
  not_applicable: v.pipe(count, v.description("Rules that do not apply to the organization")),
};

/** The fields that a scan and a monitor have alike. */
export const runEntries = {
  id: uuid(),
  tenant_id: uuid(),
  channel: v.pipe(v.string(), v.description("Where its events are published")),
  event_stream: v.pipe(v.string(), v.description("Path of its event stream")),
  client_id: v.nullable(v.string()),
  benchmark: v.pipe(v.nullable(v.string()), v.description("The revision of the STIG; null: the producer did not say")),
  checks_total: v.pipe(count, v.description("0 while it is not known")),
  ...statusCountsEntries,
  created_at: time,
  updated_at: v.pipe(time, v.description("The producer's last report")),
  ended_at: v.nullable(time),
};

/** The fields that a producer registers either with. */
export const registrationEntries = {
  client_id: v.exactOptional(v.nullable(text(1, 200))),
  benchmark: v.exactOptional(v.nullable(text(1, 200))),
  checks_total: v.exactOptional(count),
};

/** A scan as the API shows it. */
export const scanSchema = v.object({
  ...runEntries,
  status: scanStatusSchema,
  org_url: v.nullable(v.string()),
  checks_done: count,
  cancel_requested: v.boolean(),
  started_at: v.nullable(time),
});

export type ScanStatus = Output<typeof scanStatusSchema>;
export type ScanEndStatus = Output<typeof scanEndStatusSchema>;
export type Scan = Output<typeof scanSchema>;
