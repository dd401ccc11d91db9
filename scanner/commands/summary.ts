import * as v from "valibot";
import { statusCountsEntries } from "../../shared/schemas/scan.ts";
import { count, time, type Output } from "../../shared/schemas/primitives.ts";

/** Summary of a run over several organizations: `scanstream.summary/1`. */

const organizationSchema = v.object({
  name: v.string(),
  org_url: v.string(),
  benchmark: v.pipe(v.string(), v.description("The revision of the STIG: `okta-idaas-stig-v1r2`")),
  status: v.pipe(
    v.picklist(["completed", "cancelled", "failed", "not_run"]),
    v.description("failed: nothing was evaluated; not_run: the run was interrupted before"),
  ),
  exit_code: v.pipe(v.nullable(count), v.description("What a run of it alone would exit with; null: not run")),
  scan_id: v.nullable(v.string()),
  checks: v.pipe(v.nullable(v.object(statusCountsEntries)), v.description("Counts of rules, as in its report")),
  gate: v.pipe(v.nullable(v.string()), v.description("What --fail-on says, in one line")),
  error: v.nullable(v.object({ code: v.string(), message: v.string(), remedy: v.nullable(v.string()) })),
  duration_ms: count,
  files: v.pipe(v.array(v.string()), v.description("The reports that were written")),
});

export const summarySchema = v.object({
  schema: v.literal("scanstream.summary/1"),
  benchmark: v.pipe(v.nullable(v.string()), v.description("Of all organizations; null: theirs differ")),
  started_at: time,
  ended_at: time,
  exit_code: v.pipe(count, v.description("Of the organizations' the first in the order 130, 4, 3, 2, 1, 0")),
  checks: v.pipe(v.object(statusCountsEntries), v.description("Counts of rules over all organizations")),
  organizations: v.array(organizationSchema),
});

export type Summary = Output<typeof summarySchema>;
export type OrganizationSummary = Summary["organizations"][number];
