import type { Publisher } from "../../../shared/broker.ts";
import { announce, type AnnounceOptions } from "../announce.ts";
import { publishScanDeleted, tenantChannel } from "../tenant_events.ts";
import { publishScanEnd, scanChannel } from "./events.ts";
import type { EndedScan } from "./announce_end.ts";

/** A scan that has just been deleted, as it was. */
export interface DeletedScan extends EndedScan {
  /** It had not ended, so that its deletion is its end. */
  readonly wasOpen: boolean;
}

/**
 * Publishes that a scan was deleted: the end on its own channel, which closes what still follows it, and on its tenant's where
 * nobody has heard it; then `scan.deleted` on its tenant's. Never rejects.
 */
export async function announceDeleted(scan: DeletedScan, options: AnnounceOptions): Promise<void> {
  const { id, tenantId, status, pass, fail, manual, not_applicable, wasOpen } = scan;
  const payload = { scan_id: id, status, pass, fail, manual, not_applicable };
  const channels = [scanChannel(tenantId, id), ...(wasOpen ? [tenantChannel(tenantId)] : [])];
  await announce(
    {
      publish: [
        ...channels.map((channel) => (publisher: Publisher) => publishScanEnd(publisher, channel, payload)),
        (publisher) => publishScanDeleted(publisher, tenantChannel(tenantId), { scan_id: id }),
      ],
      failure: { fields: { scan_id: id }, message: "that a scan was deleted could not be published" },
    },
    options,
  );
}
