import * as v from "valibot";
import { changeCauseSchema } from "./change.ts";
import { findingEntries, statusSchema } from "./finding.ts";
import { count, fieldMessage, instant, text, time, uuid, type Output } from "./primitives.ts";
import { statusCountsEntries } from "./scan.ts";
import { webAddress } from "./web_address.ts";

const statusMessage = "expected running, stopped or ended";
const storedStatusSchema = v.picklist(["running", "stopped", "ended"], statusMessage);
/** `stale`: it runs, and its last report is older than three intervals and than a minute. */
const monitorStatusSchema = v.picklist(["running", "stale", "stopped", "ended"]);

const logStatusSchema = v.pipe(
  v.picklist(["reading", "unreadable", "unknown"], "expected reading, unreadable or unknown"),
  v.description("`unreadable`: the verdicts rest on full scans alone"),
);
const errorCode = text(1, 100);
const errorDetail = text(0, 2048);
const lagMessage = "expected a number of seconds from 0 to 1000000000";
const lagSeconds = v.pipe(
  v.number(lagMessage),
  v.finite(lagMessage),
  v.minValue(0, lagMessage),
  v.maxValue(1_000_000_000, lagMessage),
);
const intervalMessage = "expected an integer from 1 to 86400";
const intervalSeconds = v.pipe(
  v.number(intervalMessage),
  v.integer(intervalMessage),
  v.minValue(1, intervalMessage),
  v.maxValue(86_400, intervalMessage),
);

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
  interval_seconds: intervalSeconds,
  checks_total: v.pipe(count, v.description("0 while it is not known")),
  ...statusCountsEntries,
  log_status: logStatusSchema,
  error_code: v.pipe(v.nullable(v.string()), v.description("Null while nothing is wrong")),
  error_detail: v.nullable(v.string()),
  last_look_at: v.pipe(v.nullable(time), v.description("When the provider was last asked successfully")),
  lag_seconds: v.nullable(lagSeconds),
  last_change_at: v.pipe(v.nullable(time), v.description("Null until a verdict moved")),
  created_at: time,
  updated_at: v.pipe(time, v.description("The producer's last report")),
  started_at: v.pipe(time, v.description("When the producer was last started")),
  ended_at: v.nullable(time),
});

export const newMonitorSchema = v.strictObject(
  {
    org_url: webAddress,
    client_id: v.exactOptional(v.nullable(text(1, 200))),
    interval_seconds: intervalSeconds,
    checks_total: v.exactOptional(count),
  },
  fieldMessage,
);

/** The gap is published with `monitor.error` and not stored. */
export const monitorUpdateSchema = v.strictObject(
  {
    status: v.exactOptional(storedStatusSchema),
    checks_total: v.exactOptional(count),
    pass: v.exactOptional(count),
    fail: v.exactOptional(count),
    manual: v.exactOptional(count),
    log_status: v.exactOptional(logStatusSchema),
    error_code: v.exactOptional(v.nullable(errorCode)),
    error_detail: v.exactOptional(v.nullable(errorDetail)),
    last_look_at: v.exactOptional(v.nullable(instant)),
    lag_seconds: v.exactOptional(v.nullable(lagSeconds)),
    gap_from: v.pipe(v.exactOptional(instant), v.description("With `error_code`: since when the log was not read")),
    gap_to: v.exactOptional(instant),
  },
  fieldMessage,
);

export const doorbellSchema = v.object({
  url: v.pipe(v.string(), v.description("Where the provider's event hook sends its requests")),
  secret: v.pipe(v.string(), v.description("The hook's Authorization header; shown this once")),
});
export const verificationSchema = v.object({ verification: v.string() });

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
    ]).entries,
  }),
  "finding.updated": v.object({
    monitor_id,
    check: findingEntries.check,
    fingerprint: findingEntries.fingerprint,
    from: v.pipe(v.nullable(statusSchema), v.description("Null: the finding is new")),
    to: v.pipe(v.nullable(statusSchema), v.description("Null: the finding is gone")),
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
  "monitor.progress": v.object({ monitor_id, doorbell: v.literal(true) }),
  "monitor.end": v.object({ monitor_id, reason: v.picklist(["ended", "deleted"]) }),
};

export type Monitor = Output<typeof monitorSchema>;
export type StoredMonitorStatus = Output<typeof storedStatusSchema>;
export type MonitorStatus = Output<typeof monitorStatusSchema>;
export type LogStatus = Output<typeof logStatusSchema>;
export type NewMonitor = Output<typeof newMonitorSchema>;
export type MonitorUpdate = Output<typeof monitorUpdateSchema>;

/** The event map of its stream, for `subscribe<MonitorEvents>`. */
export type MonitorEvents = {
  readonly [Type in keyof typeof monitorEventSchemas]: Output<(typeof monitorEventSchemas)[Type]>;
};
