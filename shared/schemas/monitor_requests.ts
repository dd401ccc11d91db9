import * as v from "valibot";
import { count, fieldMessage, instant, text, type Output } from "./primitives.ts";
import { webAddress } from "./web_address.ts";

/** The bodies that the REST resources of monitors take. */

const statusMessage = "expected running, stopped or ended";
const storedStatusSchema = v.picklist(["running", "stopped", "ended"], statusMessage);
export const logStatusSchema = v.pipe(
  v.picklist(["reading", "unreadable", "unknown"], "expected reading, unreadable or unknown"),
  v.description("`unreadable`: the verdicts rest on full scans alone"),
);
const errorCode = text(1, 100);
const errorDetail = text(0, 2048);
const lagMessage = "expected a number of seconds from 0 to 1000000000";
export const lagSeconds = v.pipe(
  v.number(lagMessage),
  v.finite(lagMessage),
  v.minValue(0, lagMessage),
  v.maxValue(1_000_000_000, lagMessage),
);
const intervalMessage = "expected an integer from 1 to 86400";
export const intervalSeconds = v.pipe(
  v.number(intervalMessage),
  v.integer(intervalMessage),
  v.minValue(1, intervalMessage),
  v.maxValue(86_400, intervalMessage),
);

export const newMonitorSchema = v.strictObject(
  {
    org_url: webAddress,
    client_id: v.exactOptional(v.nullable(text(1, 200))),
    benchmark: v.exactOptional(v.nullable(text(1, 200))),
    interval_seconds: intervalSeconds,
    checks_total: v.exactOptional(count),
  },
  fieldMessage,
);

/** The gap is published with `monitor.error`; the monitor does not show it. */
export const monitorUpdateSchema = v.strictObject(
  {
    status: v.exactOptional(storedStatusSchema),
    checks_total: v.exactOptional(count),
    pass: v.exactOptional(count),
    fail: v.exactOptional(count),
    manual: v.exactOptional(count),
    not_applicable: v.exactOptional(count),
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

export type StoredMonitorStatus = Output<typeof storedStatusSchema>;
export type LogStatus = Output<typeof logStatusSchema>;
export type NewMonitor = Output<typeof newMonitorSchema>;
export type MonitorUpdate = Output<typeof monitorUpdateSchema>;
