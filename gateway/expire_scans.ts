import type { Database } from "../drizzle/database.ts";
import { expireStaleScans, type ExpiredScan } from "../drizzle/with_tenant.ts";
import type { Publisher } from "../shared/broker.ts";
import { publishScanEnd, scanChannel } from "./features/scans/events.ts";
import type { Log } from "./log.ts";

/** A producer PATCHes its scan far more often. */
export const staleScanMinutes = 15;

export interface ExpireScansOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  readonly log: Log;
  /** Without a sign of life for so long, a scan's producer is gone. */
  readonly olderThanMinutes: number;
}

/**
 * Ends the scans whose producer is gone, and tells their streams. However many gateways ask at a time, each scan is ended
 * by one of them. Returns how many; never rejects, because it runs beside everything else.
 */
export async function expireScans(options: ExpireScansOptions): Promise<number> {
  let count = 0;
  try {
    for (;;) {
      const expired = await expireStaleScans(options.database, options.olderThanMinutes);
      if (expired.length === 0) return count;
      count += expired.length;
      for (const scan of expired) await tell(options, scan);
    }
  } catch (error) {
    options.log.warn({ error }, "stale scans could not be expired");
    return count;
  }
}

/** A lost event costs a stream its early end, not the scan its state: whoever reconnects gets 204. */
async function tell({ publisher, log }: ExpireScansOptions, { id, tenantId, ...counts }: ExpiredScan): Promise<void> {
  try {
    await publishScanEnd(publisher, scanChannel(tenantId, id), { scan_id: id, status: "expired", ...counts });
    log.info({ scan_id: id }, "a scan was expired");
  } catch (error) {
    log.warn({ scan_id: id, error }, "the end of an expired scan could not be published");
  }
}
