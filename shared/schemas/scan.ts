import * as v from "valibot";
import { count, time, uuid, type Output } from "./primitives.ts";

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

/** A scan as the API shows it. */
export const scanSchema = v.object({
  id: uuid(),
  tenant_id: uuid(),
  channel: v.pipe(v.string(), v.description("Where its events are published")),
  event_stream: v.pipe(v.string(), v.description("Path of its event stream")),
  status: scanStatusSchema,
  org_url: v.nullable(v.string()),
  client_id: v.nullable(v.string()),
  benchmark: v.pipe(v.nullable(v.string()), v.description("The revision of the STIG; null: the producer did not say")),
  checks_total: v.pipe(count, v.description("0 while it is not known")),
  checks_done: count,
  ...statusCountsEntries,
  cancel_requested: v.boolean(),
  created_at: time,
  updated_at: v.pipe(time, v.description("The producer's last heartbeat")),
  started_at: v.nullable(time),
  ended_at: v.nullable(time),
});

export type ScanStatus = Output<typeof scanStatusSchema>;
export type ScanEndStatus = Output<typeof scanEndStatusSchema>;
export type Scan = Output<typeof scanSchema>;
