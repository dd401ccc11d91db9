import type { Publisher } from "../../../shared/broker.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import { sendEvent } from "../../../shared/send_event.ts";

/** What the gateway publishes of a monitor, each after it was stored. One function an event. */

export const monitorPrefix = "monitor";

/** The channel of one monitor; `tenantId` is the monitor's own tenant. */
export function monitorChannel(tenantId: string, monitorId: string): string {
  return makeChannelName(monitorPrefix, tenantId, monitorId);
}

export function publishMonitorStart(
  publisher: Publisher,
  channel: string,
  payload: MonitorEvents["monitor.start"],
): Promise<void> {
  return sendEvent(publisher, channel, "monitor.start", payload);
}

export function publishMonitorUpdated(
  publisher: Publisher,
  channel: string,
  payload: MonitorEvents["monitor.updated"],
): Promise<void> {
  return sendEvent(publisher, channel, "monitor.updated", payload);
}

export function publishFindingUpdated(
  publisher: Publisher,
  channel: string,
  payload: MonitorEvents["finding.updated"],
): Promise<void> {
  return sendEvent(publisher, channel, "finding.updated", payload);
}

export function publishMonitorError(
  publisher: Publisher,
  channel: string,
  payload: MonitorEvents["monitor.error"],
): Promise<void> {
  return sendEvent(publisher, channel, "monitor.error", payload);
}

export function publishMonitorEnd(
  publisher: Publisher,
  channel: string,
  payload: MonitorEvents["monitor.end"],
): Promise<void> {
  return sendEvent(publisher, channel, "monitor.end", payload);
}
