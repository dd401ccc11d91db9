import type { Change } from "../../shared/schemas/change.ts";
import type { MonitorStatus } from "../../shared/schemas/monitor.ts";
import type { LogStatus } from "../../shared/schemas/monitor_requests.ts";
import { toRecord, toText } from "./scan_wire.ts";

export type { Change, Explanation } from "../../shared/schemas/change.ts";

/** A monitor as the page knows it. Times are milliseconds since the epoch, by the gateway's clock. */
export interface Monitor {
  readonly id: string;
  readonly orgUrl: string;
  readonly clientId: string | null;
  readonly benchmark: string | null;
  readonly status: MonitorStatus;
  readonly intervalSeconds: number;
  /** Counts of rules. */
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
  readonly notApplicable: number;
  readonly logStatus: LogStatus;
  readonly errorCode: string | null;
  readonly errorDetail: string | null;
  readonly lastLookAtMs: number | null;
  readonly lagSeconds: number | null;
  readonly createdAtMs: number | null;
  /** The producer's last report. */
  readonly updatedAtMs: number;
}

/*
 * Read without the schemas of `shared/`, which would be a fifth of the page's script: the gateway has checked what REST
 * answers, and of an event, which any key of the tenant may publish, nothing is taken that has another type.
 */

/** Throws `TypeError` for an answer that is not a monitor. */
export function parseMonitor(value: unknown): Monitor {
  const monitor = toRecord(value);
  return {
    id: requireText(monitor["id"], "a monitor"),
    orgUrl: requireText(monitor["org_url"], "a monitor"),
    clientId: toText(monitor["client_id"]),
    benchmark: toText(monitor["benchmark"]),
    intervalSeconds: toNumber(monitor["interval_seconds"]) ?? 0,
    createdAtMs: toMs(monitor["created_at"]),
    updatedAtMs: toMs(monitor["updated_at"]) ?? 0,
    errorDetail: toText(monitor["error_detail"]),
    ...parseMonitorState(value),
  };
}

/** What changes while it runs, also of `monitor.updated`. */
export function parseMonitorState(value: unknown) {
  const state = toRecord(value);
  const count = (name: string) => toNumber(state[name]) ?? 0;
  return {
    status: statuses.find((status) => status === state["status"]) ?? "running",
    pass: count("pass"),
    fail: count("fail"),
    manual: count("manual"),
    notApplicable: count("not_applicable"),
    logStatus: logStatuses.find((status) => status === state["log_status"]) ?? "unknown",
    errorCode: toText(state["error_code"]),
    lastLookAtMs: toMs(state["last_look_at"]),
    lagSeconds: toNumber(state["lag_seconds"]),
  };
}

const statuses: readonly MonitorStatus[] = ["running", "stale", "stopped", "ended"];
const logStatuses: readonly LogStatus[] = ["reading", "unreadable", "unknown"];

/** Throws `TypeError` for an answer that is not a change. */
export function parseChange(value: unknown): Change {
  requireText(toRecord(value)["fingerprint"], "a change");
  // The gateway stores and lists nothing else under this path.
  return value as Change;
}

function requireText(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw new TypeError(`Cannot read the answer: it is not ${what}`);
}

function toNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function toMs(value: unknown): number | null {
  return typeof value === "string" ? toNumber(Date.parse(value)) : null;
}
