import { desc, eq, inArray, type SQL } from "drizzle-orm";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { scanChannel, scanPrefix } from "../../../shared/scan_events.ts";
import { scans } from "../../../drizzle/schema.ts";
import {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type ChannelsResult,
  type Snapshot,
} from "../../streaming/event_stream_definition.ts";
import { hasEnded, toScanResource } from "./scan.ts";

const maxScans = 100;

/** The channel of the requested scan. Rejects with `NotFound` for a scan that is not visible in the tenant. */
export async function getChannels({ db, params }: Pick<ChannelsRequest, "db" | "params">): Promise<ChannelsResult> {
  return channelsOf(db, [params["id"] ?? ""]);
}

/** `GET /:id/event-stream`: a scan, live, until its `scan.end`. */
export const scanEventStream = defineEventStream({
  prefix: scanPrefix,
  getChannels,
  getSnapshot: ({ db, params }) => snapshotOf(db, [params.id]),
  text: {
    operationId: "followScan",
    summary: "Follow a scan",
    description:
      "Server-sent events until `scan.end`. Nothing is replayed: read the scan again on every " +
      "`open`, or ask for it with `snapshot=1`. `access_token` counts only when there is no Authorization header, and never holds an API key.",
    what: "scan",
    ended: "The scan has ended: do not reconnect",
    notFound: "No such scan in this tenant",
  },
});

/** `GET /event-stream?scan_id=…&scan_id=…`: several scans, live, until the last one's `scan.end`. */
export const scansEventStream = defineEventStream({
  prefix: scanPrefix,
  path: "/event-stream",
  isFor: (query) => query.has("scan_id"),
  getChannels: async ({ db, queryAll }) => channelsOf(db, parseScanIds(queryAll("scan_id"))),
  getSnapshot: async ({ db, queryAll }) => snapshotOf(db, parseScanIds(queryAll("scan_id"))),
});

/** Each once. Throws `NotFound` for one that can name no scan, `AppError("malformed")` for too many. */
function parseScanIds(values: readonly string[]): readonly string[] {
  const ids = [...new Set(values)];
  if (!ids.every(isUuid)) throw new NotFound("No such scan");
  if (ids.length <= maxScans) return ids;
  throw new AppError("malformed", `The query names ${ids.length} scans: expected at most ${maxScans}`);
}

/** Among the ones that have not ended; all of them, when all have. */
async function channelsOf(db: ChannelsRequest["db"], scanIds: readonly string[]): Promise<ChannelsResult> {
  // What a stream's opening needs and no more: to build the statement with every column takes nearly twice as long.
  const { id, tenantId, status } = scans;
  const rows = await db.select({ id, tenantId, status }).from(scans).where(isOneOf(scanIds));
  if (rows.length < scanIds.length) throw new NotFound("No such scan");
  const running = rows.filter((scan) => !hasEnded(scan.status));
  // The scan's own tenant, not the reader's: that the two are one is checked by name afterwards.
  const channels = (running.length === 0 ? rows : running).map((scan) => scanChannel(scan.tenantId, scan.id));
  return running.length === 0 ? ended(...channels) : channels;
}

/** All of them, newest first; one that was deleted in the meantime is not there. */
async function snapshotOf(db: ChannelsRequest["db"], scanIds: readonly string[]): Promise<Snapshot> {
  const rows = await db.select().from(scans).where(isOneOf(scanIds)).orderBy(desc(scans.createdAt), desc(scans.id));
  return {
    events: rows.map((row) => ({ type: "scan.snapshot", data: toScanResource(row) })),
    hasEnded: rows.every((row) => hasEnded(row.status)),
  };
}

function isOneOf(scanIds: readonly string[]): SQL {
  // The usual case is prepared once.
  return scanIds.length === 1 ? eq(scans.id, scanIds[0] ?? "") : inArray(scans.id, [...scanIds]);
}
