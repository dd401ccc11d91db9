import * as v from "valibot";
import { count, exactOptionalEntries, fieldMessage, instant, text, type Output } from "./primitives.ts";
import { registrationEntries, statusCountsEntries } from "./scan.ts";
import { webAddress } from "./web_address.ts";

/** The bodies that the REST resources of monitors take. */

const statusMessage = "expected running, stopped or ended";
const storedStatusSchema = v.picklist(["running", "stopped", "ended"], statusMessage);
export const logStatusSchema = v.pipe(
  v.picklist(["reading", "unreadable", "unknown"], "expected reading, unreadable or unknown"),
  v.description("`unreadable`: the verdicts rest on full scans alone"),
);
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
  { org_url: webAddress, ...registrationEntries, interval_seconds: intervalSeconds },
  fieldMessage,
);

/** The gap is published with `monitor.error`; the monitor does not show it. */
export const monitorUpdateSchema = v.strictObject(
  {
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
    gap_from: v.pipe(v.exactOptional(instant), v.description("With `error_code`: since when the log was not read")),
    gap_to: v.exactOptional(instant),
  },
  fieldMessage,
);

export type StoredMonitorStatus = Output<typeof storedStatusSchema>;
export type LogStatus = Output<typeof logStatusSchema>;
export type NewMonitor = Output<typeof newMonitorSchema>;
export type MonitorUpdate = Output<typeof monitorUpdateSchema>;
