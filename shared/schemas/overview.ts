import * as v from "valibot";
import { changeSchema } from "./change.ts";
import { decisionSchema } from "./decision.ts";
import { monitorSchema } from "./monitor.ts";
import { actorSchema } from "./history.ts";
import { organizationSchema } from "./organization.ts";
import { time, uuid, type Output } from "./primitives.ts";
import { scanSchema } from "./scan.ts";
import { sessionSchema } from "./session.ts";

/** Everything that the first view of the page shows, of one moment. */
export const overviewSchema = v.object({
  session: sessionSchema,
  seen_at: v.pipe(
    v.nullable(time),
    v.description(
      "When the member last left the page, as `PUT /seen` stored it; null: not yet, or the caller is a key",
    ),
  ),
  organizations: v.pipe(v.array(organizationSchema), v.description("The newest 500")),
  monitors: v.pipe(v.array(monitorSchema), v.description("The newest 1000")),
  scans: v.pipe(v.array(scanSchema), v.description("The newest 50, and all that have not ended")),
  decisions: v.pipe(v.array(decisionSchema), v.description("The newest 200 that hold")),
  changes: v.pipe(
    v.array(v.object({ monitor_id: uuid(), ...changeSchema.entries })),
    v.description("The newest 20 of each monitor that has not ended, newest first, without the first state"),
  ),
  cat1: v.pipe(
    v.array(
      v.object({
        organization_id: uuid(),
        check: v.string(),
        actor: v.pipe(v.nullable(actorSchema), v.description("Who broke it, as far as a log says")),
        findings: v.array(v.object({ resource_id: v.string(), resource_name: v.string() })),
      }),
    ),
    v.description("The rules of CAT I that fail, with their failing findings, of the first 20 organizations with one"),
  ),
});

export const seenSchema = v.object({
  seen_at: v.pipe(v.nullable(time), v.description("Null: the caller is an API key, which has no membership")),
});

export type Overview = Output<typeof overviewSchema>;
