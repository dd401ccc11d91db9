import { announce, type AnnounceOptions } from "./announce.ts";
import { monitorEvents } from "./monitors/events.ts";
import { tenantChannel, tenantEvents } from "./tenant_events.ts";

/** Publishes on the tenant's stream that a scan or a monitor was deleted. Called after that: a later snapshot no longer has it. */
export async function announceDeleted(
  { kind, id, tenantId }: { readonly kind: "scan" | "monitor"; readonly id: string; readonly tenantId: string },
  options: AnnounceOptions,
): Promise<void> {
  const channel = tenantChannel(tenantId);
  await announce(
    {
      publish: [
        () =>
          kind === "scan"
            ? tenantEvents(options).publishScanDeleted(channel, { scan_id: id })
            : monitorEvents(options).publishMonitorEnd(channel, { monitor_id: id, reason: "deleted" }),
      ],
      failure: { fields: { id }, message: `that a ${kind} was deleted could not be published` },
    },
    options,
  );
}
