import { parseMonitorState, type Monitor } from "../monitor_wire.ts";
import { toRecord, toText } from "../scan_wire.ts";

/** The monitor as an event leaves it; `nowMs` by the gateway's clock. An event that is not one of a monitor changes nothing. */
export function applyMonitorEvent(monitor: Monitor, type: string, data: object, nowMs: number): Monitor {
  switch (type) {
    case "monitor.updated": {
      const state = parseMonitorState(data);
      const errorDetail = state.errorCode === null ? null : monitor.errorDetail;
      // That it is stale is the gateway's own word; all else is a report of the producer.
      const updatedAtMs = state.status === "stale" ? monitor.updatedAtMs : nowMs;
      return { ...monitor, ...state, errorDetail, updatedAtMs };
    }
    case "monitor.error": {
      const { code, detail } = toRecord(data);
      return { ...monitor, errorCode: toText(code) ?? "error", errorDetail: toText(detail) };
    }
    case "monitor.start":
      return { ...monitor, status: "running", updatedAtMs: nowMs };
    case "monitor.end":
      return { ...monitor, status: "ended" };
    default:
      return monitor;
  }
}
