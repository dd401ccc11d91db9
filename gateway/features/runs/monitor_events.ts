import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import type { Publisher } from "../../../shared/send_event.ts";

/** The events that the gateway publishes of a monitor, each after it was stored. */
export const monitorEvents = ({ sendEvent }: Publisher) => ({
  publishMonitorStart: (channel: string, payload: MonitorEvents["monitor.start"]) =>
    sendEvent(channel, "monitor.start", payload),
  publishMonitorUpdated: (channel: string, payload: MonitorEvents["monitor.updated"]) =>
    sendEvent(channel, "monitor.updated", payload),
  publishMonitorError: (channel: string, payload: MonitorEvents["monitor.error"]) =>
    sendEvent(channel, "monitor.error", payload),
  publishMonitorEnd: (channel: string, payload: MonitorEvents["monitor.end"]) =>
    sendEvent(channel, "monitor.end", payload),
});
