import { eq } from "drizzle-orm";
import { NotFound } from "../../../shared/app_error.ts";
import { scans } from "../../../drizzle/schema.ts";
import {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type ChannelsResult,
} from "../../streaming/define_event_stream.ts";
import { scanChannel, scanPrefix } from "./events.ts";
import { hasEnded } from "./scan.ts";

/** The channel of the requested scan. Rejects with `NotFound` for a scan that is not visible in the tenant. */
export async function getChannels({ tx, params }: Pick<ChannelsRequest, "tx" | "params">): Promise<ChannelsResult> {
  // What a stream's opening needs and no more: to build the statement with every column takes nearly twice as long.
  const { id, tenantId, status } = scans;
  const [scan] = await tx
    .select({ id, tenantId, status })
    .from(scans)
    .where(eq(id, params["id"] ?? ""));
  if (scan === undefined) throw new NotFound("No such scan");
  // The scan's own tenant, not the reader's: that the two are one is checked by name afterwards.
  const channel = scanChannel(scan.tenantId, scan.id);
  return hasEnded(scan.status) ? ended(channel) : [channel];
}

/** `GET /:id/event-stream`: a scan, live, until its `scan.end`. */
export const scanEventStream = defineEventStream({ prefix: scanPrefix, getChannels, closesAfterEnd: true });
