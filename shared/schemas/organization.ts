import * as v from "valibot";
import { manualReasonSchema, severitySchema, statusSchema } from "./finding.ts";
import { exposureSchema, historySchema } from "./history.ts";
import { monitorSchema } from "./monitor.ts";
import { count, described, nextCursor, time, uuid, type Output } from "./primitives.ts";
import { statusCountsEntries } from "./scan.ts";

/** An Okta org as its tenant sees it. Counts are of rules, each by what was known last, however long ago that is. */
export const organizationSchema = v.object({
  id: uuid(),
  org_url: described(v.string(), "The origin of the org's address, in lower case"),
  name: described(v.string(), "The host of the address, with its port where it has one"),
  ...statusCountsEntries,
  unknown: described(count, "Rules that could not be read when they were last evaluated"),
  not_evaluated: described(count, "Rules of the STIG that no completed scan and no monitor has evaluated"),
  cat1_open: described(count, "Rules of CAT I whose last verdict is FAIL"),
  cat2_open: count,
  cat3_open: count,
  last_scan_id: described(v.nullable(uuid()), "The last completed scan; null: there was none, or it was deleted"),
  last_scan_at: described(v.nullable(time), "When the last completed scan ended; null: there was none"),
  monitor_id: described(v.nullable(uuid()), "Among several the one that runs, and of those the newest"),
  monitor_status: v.nullable(monitorSchema.entries.status),
});

const ruleResultSchema = v.object({
  check: v.string(),
  status: statusSchema,
  reason: v.nullable(manualReasonSchema),
  severity: severitySchema,
  monitor_id: described(v.nullable(uuid()), "The monitor that knew it last; null: the scan did"),
  scan_id: described(v.nullable(uuid()), "The last completed scan that evaluated it; null: none, or it was deleted"),
});

export const organizationDetailsSchema = v.object({
  ...organizationSchema.entries,
  results: described(v.array(ruleResultSchema), "The results that the counts are of, one for each rule"),
});

/** An exposure of one of its rules. */
export const organizationExposureSchema = v.object({
  check: v.string(),
  vuln_id: v.nullable(v.string()),
  ...exposureSchema.entries,
});

/** A page of the history: whole rules, in the order of their names. */
export const organizationHistorySchema = v.object({ ...historySchema.entries, next_cursor: nextCursor });

/** As events carry it. */
const organizationResourceSchema = v.object({ organization_id: uuid(), ...organizationSchema.entries });

export const organizationEventSchemas = {
  "organization.snapshot": organizationResourceSchema,
  "organization.updated": organizationResourceSchema,
  "organization.deleted": v.object({ organization_id: uuid() }),
};

export type Organization = Output<typeof organizationSchema>;
export type OrganizationDetails = Output<typeof organizationDetailsSchema>;
export type OrganizationExposure = Output<typeof organizationExposureSchema>;
export type OrganizationHistory = Output<typeof organizationHistorySchema>;
export type OrganizationResource = Output<typeof organizationResourceSchema>;
