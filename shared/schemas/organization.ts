import * as v from "valibot";
import { exposureSchema, historySchema } from "./history.ts";
import { monitorSchema } from "./monitor.ts";
import { count, time, uuid, type Output } from "./primitives.ts";
import { statusCountsEntries } from "./scan.ts";

/** An Okta org as its tenant sees it: what scans and monitors found last, and what is open. */

/** Everything of a row but the trend. Counts are of rules, each by the verdict that was seen last, however long ago that is. */
const flatEntries = {
  id: uuid(),
  org_url: v.pipe(v.string(), v.description("The origin of the org's address, in lower case")),
  name: v.pipe(v.string(), v.description("The host of the address, with its port where it has one")),
  ...statusCountsEntries,
  unknown: v.pipe(count, v.description("Rules that could not be read when they were last looked at")),
  cat1_open: v.pipe(count, v.description("Rules of CAT I whose last verdict is FAIL")),
  cat2_open: count,
  cat3_open: count,
  last_scan_id: v.pipe(v.nullable(uuid()), v.description("Null: there was no scan, or the last one was deleted")),
  last_scan_at: v.pipe(v.nullable(time), v.description("When the last scan ended; null: there was none")),
  monitor_id: v.pipe(
    v.nullable(uuid()),
    v.description("Among several the one that runs, and of those the one that reported last"),
  ),
  monitor_status: v.nullable(monitorSchema.entries.status),
  open_exposures: v.pipe(count, v.description("Rules that were seen failing, and not seen passing since")),
};

const trendSchema = v.object({
  day: v.pipe(v.string(), v.isoDate()),
  fail: v.pipe(v.nullable(count), v.description("Rules that were seen failing on that day (UTC); null: nobody looked")),
});

export const organizationSchema = v.object({
  ...flatEntries,
  trend: v.pipe(v.array(trendSchema), v.description("The last 30 days, today last")),
});

/** An exposure of one of its rules. */
export const organizationExposureSchema = v.object({
  check: v.string(),
  vuln_id: v.nullable(v.string()),
  ...exposureSchema.entries,
});

/** A page of the history: whole rules, in the order of their names. */
export const organizationHistorySchema = v.object({
  ...historySchema.entries,
  next_cursor: v.pipe(v.nullable(v.string()), v.description("Null at the end")),
});

/** As events carry it. */
const organizationResourceSchema = v.object({ organization_id: uuid(), ...flatEntries });

export const organizationEventSchemas = {
  "organization.snapshot": organizationResourceSchema,
  "organization.updated": organizationResourceSchema,
  "organization.deleted": v.object({ organization_id: uuid() }),
};

export type Organization = Output<typeof organizationSchema>;
export type OrganizationExposure = Output<typeof organizationExposureSchema>;
export type OrganizationHistory = Output<typeof organizationHistorySchema>;
export type OrganizationResource = Output<typeof organizationResourceSchema>;
