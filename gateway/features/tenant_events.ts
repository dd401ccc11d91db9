import type { Publisher } from "../../shared/broker.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import type { TenantEvents } from "../../shared/schemas/tenant_events.ts";
import { sendEvent } from "../../shared/send_event.ts";

/** What is published for a whole tenant, each after it was stored. The ends of scans and the events of monitors are their features' own. */

export const tenantPrefix = "tenant";

/** The channel of everything that a tenant has. */
export function tenantChannel(tenantId: string): string {
  return makeChannelName(tenantPrefix, tenantId, tenantId);
}

export function publishScanCreated(
  publisher: Publisher,
  channel: string,
  payload: TenantEvents["scan.created"],
): Promise<void> {
  return sendEvent(publisher, channel, "scan.created", payload);
}

export function publishScanDeleted(
  publisher: Publisher,
  channel: string,
  payload: TenantEvents["scan.deleted"],
): Promise<void> {
  return sendEvent(publisher, channel, "scan.deleted", payload);
}

export function publishScanUpdated(
  publisher: Publisher,
  channel: string,
  payload: TenantEvents["scan.updated"],
): Promise<void> {
  return sendEvent(publisher, channel, "scan.updated", payload);
}
