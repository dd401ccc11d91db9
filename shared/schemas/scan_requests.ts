import * as v from "valibot";
import { count, fieldMessage, text, type Output } from "./primitives.ts";
import { webAddress } from "./web_address.ts";

/** The bodies that the REST resources of scans take. */

export const newScanSchema = v.strictObject(
  {
    org_url: v.exactOptional(v.nullable(webAddress)),
    client_id: v.exactOptional(v.nullable(text(1, 200))),
    benchmark: v.exactOptional(v.nullable(text(1, 200))),
    checks_total: v.exactOptional(count),
  },
  fieldMessage,
);

export const scanUpdateSchema = v.strictObject(
  {
    /** Nothing goes back to `pending`. */
    status: v.exactOptional(
      v.picklist(["running", "completed", "cancelled", "failed"], "expected running, completed, cancelled or failed"),
    ),
    checks_done: v.exactOptional(count),
    checks_total: v.exactOptional(count),
    pass: v.exactOptional(count),
    fail: v.exactOptional(count),
    manual: v.exactOptional(count),
    not_applicable: v.exactOptional(count),
  },
  fieldMessage,
);

export type NewScan = Output<typeof newScanSchema>;
export type ScanUpdate = Output<typeof scanUpdateSchema>;
