import * as v from "valibot";
import { changeCauseSchema } from "./change.ts";
import { findingEntries, statusSchema } from "./finding.ts";
import { intervalSeconds, lagSeconds, logStatusSchema } from "./monitor_requests.ts";
import { count, time, uuid, type Output } from "./primitives.ts";
import { statusCountsEntries } from "./scan.ts";

/** `stale`: it runs, and its last report is older than three intervals and than a minute. */
const monitorStatusSchema = v.picklist(["running", "stale", "stopped", "ended"]);

/** A monitor as the API shows it: the verdicts of one org, kept up to date. */
export const monitorSchema = v.object({
  id: uuid(),
  monitor_id: uuid(),
  tenant_id: uuid(),
  channel: v.pipe(v.string(), v.description("Where its events are published")),
  event_stream: v.pipe(v.string(), v.description("Path of its event stream")),
  status: monitorStatusSchema,
  org_url: v.string(),
  client_id: v.nullable(v.string()),
  benchmark: v.pipe(v.nullable(v.string()), v.description("The revision of the STIG; null: the producer did not say")),
  interval_seconds: intervalSeconds,
  checks_total: v.pipe(count, v.description("0 while it is not known")),
  ...statusCountsEntries,
  log_status: logStatusSchema,
  error_code: v.pipe(v.nullable(v.string()), v.description("Null while nothing is wrong")),
  error_detail: v.nullable(v.string()),
  last_look_at: v.pipe(v.nullable(time), v.description("When the provider was last asked successfully")),
  lag_seconds: v.nullable(lagSeconds),
  last_change_at: v.pipe(v.nullable(time), v.description("Null until a verdict changes")),
  created_at: time,
  updated_at: v.pipe(time, v.description("The producer's last report")),
  started_at: v.pipe(time, v.description("When the producer was last started")),
  ended_at: v.nullable(time),
});

const monitor_id = uuid();

/** The payloads of its events, by type. */
export const monitorEventSchemas = {
  "monitor.start": v.object({ monitor_id, org_url: v.string(), interval_seconds: intervalSeconds }),
  "monitor.updated": v.object({
    monitor_id,
    ...v.pick(monitorSchema, [
      "status",
      "log_status",
      "error_code",
      "last_look_at",
      "lag_seconds",
      "checks_total",
      "pass",
      "fail",
      "manual",
      "not_applicable",
    ]).entries,
  }),
  "finding.updated": v.object({
    monitor_id,
    check: findingEntries.check,
    fingerprint: findingEntries.fingerprint,
    from: v.pipe(v.nullable(statusSchema), v.description("Null: the finding is new")),
    to: v.pipe(v.nullable(statusSchema), v.description("Null: the finding is gone")),
    from_waived: v.boolean(),
    to_waived: v.boolean(),
    resource_type: findingEntries.resource_type,
    resource_id: findingEntries.resource_id,
    resource_name: findingEntries.resource_name,
    cause: changeCauseSchema,
    actor_name: v.pipe(v.nullable(v.string()), v.description("Null: not known")),
    event_type: v.pipe(v.nullable(v.string()), v.description("Of the first event that explains it; null: unexplained")),
    seen_at: time,
  }),
  "monitor.error": v.object({
    monitor_id,
    code: v.string(),
    detail: v.string(),
    gap_from: v.exactOptional(time),
    gap_to: v.exactOptional(time),
  }),
  "monitor.end": v.object({ monitor_id, reason: v.picklist(["ended", "deleted"]) }),
};

export type Monitor = Output<typeof monitorSchema>;
export type MonitorStatus = Output<typeof monitorStatusSchema>;

/** The event map of its stream, for `subscribe<MonitorEvents>`. */
export type MonitorEvents = {
  readonly [Type in keyof typeof monitorEventSchemas]: Output<(typeof monitorEventSchemas)[Type]>;
};
