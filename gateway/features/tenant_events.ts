import { makeChannelName } from "../../shared/channel_name.ts";
import type { ScanResource } from "../../shared/schemas/tenant_events.ts";
import type { Publisher } from "../../shared/send_event.ts";

export const tenantPrefix = "tenant";

/** The channel of everything that a tenant has. */
export function tenantChannel(tenantId: string): string {
  return makeChannelName(tenantPrefix, tenantId, tenantId);
}

/** The events of a whole tenant, each after it was stored. The ends of scans and the events of monitors are their features' own. */
export const tenantEvents = ({ sendEvent }: Publisher) => ({
  publishScanCreated: (channel: string, payload: ScanResource) => sendEvent(channel, "scan.created", payload),
  publishScanUpdated: (channel: string, payload: ScanResource) => sendEvent(channel, "scan.updated", payload),
  publishScanDeleted: (channel: string, payload: { readonly scan_id: string }) =>
    sendEvent(channel, "scan.deleted", payload),
});
