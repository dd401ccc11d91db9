import { scanChannel } from "../../../shared/scan_events.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import type { TenantTransaction } from "../../../drizzle/with_tenant.ts";
import { hasEnded } from "./scan.ts";
import { selectScan } from "./scan_store.ts";

/**
 * The channels of one scan's event stream; none when the scan has ended. Rejects with `NotFound` for a scan that is not
 * visible in the transaction's tenant.
 */
export async function getChannels(tx: TenantTransaction, scanId: string): Promise<readonly string[]> {
  // Asked with anything else, Postgres would fail instead of finding nothing.
  if (!isUuid(scanId)) throw new NotFound("No such scan");
  const scan = await selectScan(tx, scanId);
  return hasEnded(scan.status) ? [] : [scanChannel(scan.tenantId, scan.id)];
}
