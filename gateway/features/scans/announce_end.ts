import type { StatusCounts } from "../../../shared/report.ts";
import { scanChannel, scanEvents, type ScanEndStatus } from "../../../shared/scan_events.ts";
import { announce, type AnnounceOptions } from "../announce.ts";
import { tenantChannel } from "../tenant_events.ts";

/** A scan that has just become terminal, with its stored counts. */
export interface EndedScan extends StatusCounts {
  readonly id: string;
  readonly tenantId: string;
  readonly status: ScanEndStatus;
}

/**
 * Publishes `scan.end` on the scan's channel and on its tenant's: called by the code that made the scan terminal, and by nothing else. Never rejects. Where no attempt
 * reaches the broker, the streams learn of the end when they are checked the next time (`recheck.ts`).
 */
export async function announceEnd(scan: EndedScan, options: AnnounceOptions): Promise<void> {
  const { publishScanEnd } = scanEvents(options);
  const { id, tenantId, status, pass, fail, manual, not_applicable } = scan;
  const payload = { scan_id: id, status, pass, fail, manual, not_applicable };
  await announce(
    {
      publish: [scanChannel(tenantId, id), tenantChannel(tenantId)].map(
        (channel) => () => publishScanEnd(channel, payload),
      ),
      failure: { fields: { scan_id: id }, message: "the end of a scan could not be published" },
    },
    options,
  );
}
