import * as v from "valibot";
import { causeIdSchema, changeCauseSchema, notBeforeSchema } from "./change.ts";
import { findingEntries, ownDecisionEntries, statusSchema } from "./finding.ts";
import {
  count,
  described,
  exactOptionalEntries,
  instant,
  integer,
  oneOf,
  text,
  time,
  uuid,
  type Output,
} from "./primitives.ts";
import { registrationEntries, runEntries, statusCountsEntries } from "./scan.ts";
import { webAddress } from "./web_address.ts";

const storedStatusSchema = oneOf("running", "stopped", "ended");
const logStatusSchema = described(
  oneOf("reading", "unreadable", "unknown"),
  "`unreadable`: the verdicts rest on full scans alone",
);
const lagSeconds = v.message(
  v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(1_000_000_000)),
  "expected a number of seconds from 0 to 1000000000",
);
const intervalSeconds = integer(1, 86_400);

export const newMonitorSchema = v.strictObject({
  org_url: webAddress,
  ...registrationEntries,
  interval_seconds: intervalSeconds,
});

/** The gap is published with `monitor.error`; the monitor does not show it. */
export const monitorUpdateSchema = v.strictObject({
  ...exactOptionalEntries({
    status: storedStatusSchema,
    checks_total: count,
    ...statusCountsEntries,
    log_status: logStatusSchema,
    error_code: v.nullable(text(1, 100)),
    error_detail: v.nullable(text(0, 2048)),
    last_look_at: v.nullable(instant),
    lag_seconds: v.nullable(lagSeconds),
  }),
  gap_from: described(v.exactOptional(instant), "With `error_code`: since when the log was not read"),
  gap_to: v.exactOptional(instant),
});

/** Longest time between two reports of a monitor; after it the monitor is stale. The column `stale_from` has it, too. */
export function longestSilenceMs(intervalSeconds: number): number {
  return Math.max(3 * intervalSeconds, 60) * 1000;
}

/** `stale`: it runs, and its last report is older than `longestSilenceMs`. */
const monitorStatusSchema = v.picklist(["running", "stale", "stopped", "ended"]);

/** A monitor as the API shows it: the verdicts of one org, kept up to date. */
export const monitorSchema = v.object({
  ...runEntries,
  monitor_id: uuid(),
  status: monitorStatusSchema,
  org_url: v.string(),
  interval_seconds: intervalSeconds,
  log_status: logStatusSchema,
  error_code: described(v.nullable(v.string()), "Null while nothing is wrong"),
  error_detail: v.nullable(v.string()),
  last_look_at: described(v.nullable(time), "When the provider was last asked successfully"),
  lag_seconds: v.nullable(lagSeconds),
  last_change_at: described(v.nullable(time), "Null until a verdict changes"),
  started_at: described(time, "When the producer was last started"),
});

const monitor_id = uuid();
const { check, fingerprint, resource_type, resource_id, resource_name, expected, actual, to_pass } = findingEntries;
const ofFinding = { check, fingerprint, resource_type, resource_id, resource_name, expected, actual, to_pass };
const eventTexts = v.pipe(v.array(text(0, 2048)), v.maxLength(20));

/** The payloads of its events, by type. */
export const monitorEventSchemas = {
  "monitor.start": v.object({ monitor_id, org_url: v.string(), interval_seconds: intervalSeconds }),
  "monitor.updated": v.object({
    monitor_id,
    ...v.pick(monitorSchema, ["status", "log_status", "error_code", "last_look_at", "lag_seconds", "checks_total"])
      .entries,
    ...statusCountsEntries,
  }),
  "finding.updated": v.object({
    monitor_id,
    id: described(uuid(), "The id of the change"),
    ...ofFinding,
    vuln_id: described(v.string(), "The rule, `V-273186`; the check's name for a rule that is not the STIG's"),
    cat: described(v.picklist(["CAT I", "CAT II", "CAT III"]), "By the producer's catalog"),
    from: described(v.nullable(statusSchema), "Null: the finding is new"),
    from_reason: findingEntries.reason,
    from_waived: v.boolean(),
    to: described(v.nullable(statusSchema), "Null: the finding is gone"),
    to_reason: findingEntries.reason,
    to_waived: v.boolean(),
    advisory: v.optional(findingEntries.advisory, false),
    ...exactOptionalEntries(ownDecisionEntries),
    rule_status: described(statusSchema, "Of the whole rule after it"),
    rule_reason: findingEntries.reason,
    cause_id: causeIdSchema,
    cause: changeCauseSchema,
    seen_at: instant,
    not_before: notBeforeSchema,
    event_ids: described(eventTexts, "The log's events that explain it; the next three lists have an entry for each"),
    event_types: eventTexts,
    event_objects: described(eventTexts, "What the events were about, each as its type and its name; empty: not known"),
    actors: described(eventTexts, "The names of who did it; empty: the log does not say"),
    also: described(
      eventTexts,
      "Other events of the same interval, each as its type and the name of its object; they name nobody",
    ),
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

export type StoredMonitorStatus = Output<typeof storedStatusSchema>;
export type NewMonitor = Output<typeof newMonitorSchema>;
export type MonitorUpdate = Output<typeof monitorUpdateSchema>;
export type FindingUpdated = MonitorEvents["finding.updated"];
export type Monitor = Output<typeof monitorSchema>;
export type MonitorStatus = Output<typeof monitorStatusSchema>;

/** The event map of its stream, for `subscribe<MonitorEvents>`. */
export type MonitorEvents = {
  readonly [Type in keyof typeof monitorEventSchemas]: Output<(typeof monitorEventSchemas)[Type]>;
};
