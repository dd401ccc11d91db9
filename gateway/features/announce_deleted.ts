import type { DeletedByAge } from "../../drizzle/across_tenants.ts";
import { announce, type AnnounceOptions } from "./announce.ts";
import { publishMonitorEnd } from "./monitors/events.ts";
import { publishScanDeleted, tenantChannel } from "./tenant_events.ts";

/** Publishes on the tenant's stream that a scan or a monitor was deleted. Called after that: a later snapshot no longer has it. */
export async function announceDeleted(
  { kind, id, tenantId }: Omit<DeletedByAge, "orgUrl">,
  options: AnnounceOptions,
): Promise<void> {
  const channel = tenantChannel(tenantId);
  await announce(
    {
      publish: [
        (publisher) =>
          kind === "scan"
            ? publishScanDeleted(publisher, channel, { scan_id: id })
            : publishMonitorEnd(publisher, channel, { monitor_id: id, reason: "deleted" }),
      ],
      failure: { fields: { id }, message: `that a ${kind} was deleted could not be published` },
    },
    options,
  );
}
