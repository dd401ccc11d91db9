import * as v from "valibot";
import { changeSchema } from "../../../shared/schemas/change.ts";
import { decisionSchema } from "../../../shared/schemas/decision.ts";
import { waiverEntries } from "../../../shared/schemas/finding.ts";
import { monitorSchema } from "../../../shared/schemas/monitor.ts";
import { actorSchema } from "../../../shared/schemas/history.ts";
import { organizationSchema } from "../../../shared/schemas/organization.ts";
import { described, time, uuid, type Output } from "../../../shared/schemas/primitives.ts";
import { scanSchema } from "../../../shared/schemas/scan.ts";
import { sessionSchema } from "../../http/session_schema.ts";

/** The rest is in the lists, which have pages. */
export const overviewLimits = { organizations: 1000, monitors: 1000, scans: 50, decisions: 200, changes: 500 } as const;

/** Everything that the first view of the page shows, of one moment. */
export const overviewSchema = v.object({
  session: sessionSchema,
  seen_at: described(
    v.nullable(time),
    "When the member last left the page, as `PUT /seen` stored it; null: not yet, or the caller is a key",
  ),
  organizations: described(v.array(organizationSchema), `The newest ${overviewLimits.organizations}`),
  monitors: described(v.array(monitorSchema), `The newest ${overviewLimits.monitors}`),
  scans: described(
    v.array(scanSchema),
    `The newest ${overviewLimits.scans}, and the newest ${overviewLimits.monitors} that have not ended`,
  ),
  decisions: described(v.array(decisionSchema), `The newest ${overviewLimits.decisions} that hold`),
  changes: described(
    v.array(v.object({ monitor_id: uuid(), ...changeSchema.entries })),
    `The newest 20 of each monitor that has not ended (since a time: 200), newest first, without the first state; at most ${overviewLimits.changes}, of 1 MiB`,
  ),
  cat1: described(
    v.array(
      v.object({
        organization_id: uuid(),
        check: v.string(),
        actor: described(v.nullable(actorSchema), "Who broke it, as far as a log says"),
        findings: v.array(
          v.object({
            resource_id: v.string(),
            resource_name: v.string(),
            to_pass: described(v.nullable(v.string()), "What to change for it: the first 500 characters"),
            ...waiverEntries,
          }),
        ),
      }),
    ),
    "The rules of CAT I that fail, with their failing findings; what goes beyond 1 MiB is left out",
  ),
});

export const seenSchema = v.object({
  seen_at: described(v.nullable(time), "Null: the caller is an API key, which has no membership"),
});

export type Overview = Output<typeof overviewSchema>;
