import { announce, type AnnounceOptions } from "../announce.ts";
import { publishScanDeleted, tenantChannel } from "../tenant_events.ts";
import type { EndedScan } from "./announce_end.ts";

/** Publishes on the tenant's channel that a scan was deleted. Never rejects. */
export async function announceDeleted(
  { id, tenantId }: Pick<EndedScan, "id" | "tenantId">,
  options: AnnounceOptions,
): Promise<void> {
  await announce(
    {
      publish: [(publisher) => publishScanDeleted(publisher, tenantChannel(tenantId), { scan_id: id })],
      failure: { fields: { scan_id: id }, message: "that a scan was deleted could not be published" },
    },
    options,
  );
}
