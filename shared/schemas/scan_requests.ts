import * as v from "valibot";
import { count, exactOptionalEntries, fieldMessage, type Output } from "./primitives.ts";
import { registrationEntries, statusCountsEntries } from "./scan.ts";
import { webAddress } from "./web_address.ts";

/** The bodies that the REST resources of scans take. */

export const newScanSchema = v.strictObject(
  { org_url: v.exactOptional(v.nullable(webAddress)), ...registrationEntries },
  fieldMessage,
);

/** Nothing goes back to `pending`. */
const status = v.picklist(
  ["running", "completed", "cancelled", "failed"],
  "expected running, completed, cancelled or failed",
);

export const scanUpdateSchema = v.strictObject(
  exactOptionalEntries({ status, checks_done: count, checks_total: count, ...statusCountsEntries }),
  fieldMessage,
);

export type NewScan = Output<typeof newScanSchema>;
export type ScanUpdate = Output<typeof scanUpdateSchema>;
