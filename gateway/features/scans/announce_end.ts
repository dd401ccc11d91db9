import type { StatusCounts } from "../../../shared/report.ts";
import type { Publisher } from "../../../shared/broker.ts";
import type { ScanEndStatus } from "../../../shared/scan_events.ts";
import type { Log } from "../../observability/log.ts";
import { publishScanEnd, scanChannel } from "./events.ts";

/** A scan that has just become terminal, with its stored counts. */
export interface EndedScan extends StatusCounts {
  readonly id: string;
  readonly tenantId: string;
  readonly status: ScanEndStatus;
}

export interface AnnounceEndOptions {
  readonly publisher: Publisher;
  readonly log: Log;
  /** Pauses before each attempt, in milliseconds. */
  readonly attemptsAfterMs?: readonly number[];
  /** How long the caller waits; the attempts go on after it. */
  readonly waitMs?: number;
}

/** A lost answer of the broker costs another attempt; a producer waits 4 s for the answer to its PATCH. */
const defaultAttemptsAfterMs = [0, 200, 800, 3000] as const;
const defaultWaitMs = 3000;

/**
 * Publishes `scan.end`: called by whatever made the scan terminal, and by nothing else. Never rejects. Where no attempt
 * reaches the broker, the streams learn of the end when they are checked the next time (`authority_recheck.ts`).
 */
export async function announceEnd(scan: EndedScan, options: AnnounceEndOptions): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, options.waitMs ?? defaultWaitMs);
  });
  await Promise.race([publishUntilTaken(scan, options), waited]);
  clearTimeout(timer);
}

async function publishUntilTaken(scan: EndedScan, { publisher, log, attemptsAfterMs }: AnnounceEndOptions) {
  const { id, tenantId, status, pass, fail, manual } = scan;
  let failure: unknown;
  for (const pauseMs of attemptsAfterMs ?? defaultAttemptsAfterMs) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    try {
      const payload = { scan_id: id, status, pass, fail, manual };
      await publishScanEnd(publisher, scanChannel(tenantId, id), payload);
      return;
    } catch (error) {
      failure = error;
    }
  }
  log.warn({ scan_id: id, error: failure }, "the end of a scan could not be published");
}
