import { defineEventStream, ended, type ChannelsRequest, type ChannelsResult } from "../../define_event_stream.ts";
import { scanChannel, scanPrefix } from "./events.ts";
import { hasEnded } from "./scan.ts";
import { selectScan } from "./scan_store.ts";

/** The channel of the scan that is asked for. Rejects with `NotFound` for a scan that is not visible in the tenant. */
export async function getChannels({ tx, params }: Pick<ChannelsRequest, "tx" | "params">): Promise<ChannelsResult> {
  const scan = await selectScan(tx, params["id"] ?? "");
  // The scan's own tenant, not the reader's: that the two are one is checked by name afterwards.
  const channel = scanChannel(scan.tenantId, scan.id);
  return hasEnded(scan.status) ? ended(channel) : [channel];
}

/** `GET /:id/event-stream`: a scan, live, until its `scan.end`. */
export const scanEventStream = defineEventStream({ prefix: scanPrefix, getChannels, closesAfterEnd: true });
