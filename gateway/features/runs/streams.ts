import { desc, eq, inArray, type SQL } from "drizzle-orm";
import { scans } from "../../../drizzle/schema.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type ChannelsResult,
  type Snapshot,
} from "../../streaming/event_stream_definition.ts";
import { monitorKind, runChannel, scanKind, toMonitor, toScanResource, type RunKind, type RunRow } from "./run.ts";
import { monitorStore } from "./store.ts";

const maxScans = 100;

/** The part of a kind that the opening of a stream needs. */
type Kind = Pick<RunKind<RunRow>, "name" | "table">;

/**
 * The channels of the requested runs: of those that have not ended, or of all of them when all have. Rejects with `NotFound` for a
 * run that is not visible in the tenant.
 */
export async function getChannels(
  kind: Kind,
  { db }: Pick<ChannelsRequest, "db">,
  ids: readonly string[],
): Promise<ChannelsResult> {
  const table = kind.table as typeof scans;
  // No more than a stream's opening needs: to build the statement with every column takes nearly twice as long.
  const { id, tenantId, endedAt } = table;
  const rows = await db.select({ id, tenantId, endedAt }).from(table).where(isOneOf(id, ids));
  if (rows.length < ids.length) throw new NotFound(`No such ${kind.name}`);
  const running = rows.filter((run) => run.endedAt === null);
  // The run's own tenant, not the reader's: that the two are one is checked by name afterwards.
  const channels = (running.length === 0 ? rows : running).map((run) => runChannel(kind, run));
  return running.length === 0 ? ended(...channels) : channels;
}

/** `GET /:id/event-stream`: a scan, live, until its `scan.end`. */
export const scanEventStream = defineEventStream({
  prefix: scanKind.name,
  getChannels: (request) => getChannels(scanKind, request, [request.params.id]),
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
  prefix: scanKind.name,
  path: "/event-stream",
  isFor: (query) => query.has("scan_id"),
  getChannels: (request) => getChannels(scanKind, request, parseScanIds(request)),
  getSnapshot: async (request) => snapshotOf(request.db, parseScanIds(request)),
});

/** Each once. Throws `NotFound` for one that can name no scan, `AppError("malformed")` for too many. */
function parseScanIds({ queryAll }: Pick<ChannelsRequest, "queryAll">): readonly string[] {
  const ids = [...new Set(queryAll("scan_id"))];
  if (!ids.every(isUuid)) throw new NotFound("No such scan");
  if (ids.length <= maxScans) return ids;
  throw new AppError("malformed", `The query names ${ids.length} scans: expected at most ${maxScans}`);
}

/** All of them, newest first; one that was deleted in the meantime is not there. */
async function snapshotOf(db: ChannelsRequest["db"], ids: readonly string[]): Promise<Snapshot> {
  const order = [desc(scans.createdAt), desc(scans.id)];
  const rows = await db
    .select()
    .from(scans)
    .where(isOneOf(scans.id, ids))
    .orderBy(...order);
  return {
    events: rows.map((row) => ({ type: "scan.snapshot", data: toScanResource(row) })),
    hasEnded: rows.every((row) => row.endedAt !== null),
  };
}

/** `GET /:id/event-stream`: a monitor, live, until its `monitor.end`; not until its producer stops. */
export const monitorEventStream = defineEventStream({
  prefix: monitorKind.name,
  getChannels: (request) => getChannels(monitorKind, request, [request.params.id]),
  async getSnapshot({ db, params }) {
    const row = await monitorStore.select(db, params.id);
    return {
      events: [{ type: "monitor.snapshot", data: toMonitor(row, Date.now()) }],
      hasEnded: row.endedAt !== null,
    };
  },
  text: {
    operationId: "followMonitor",
    summary: "Follow a monitor",
    description:
      "Server-sent events until `monitor.end`, over every restart of the producer. Nothing is " +
      "replayed: read the monitor and its findings again on every `open`.",
    what: "monitor",
    ended: "The monitor has ended: do not reconnect",
    notFound: "No such monitor in this tenant",
  },
});

function isOneOf(id: typeof scans.id, ids: readonly string[]): SQL {
  // The usual case is prepared once.
  return ids.length === 1 ? eq(id, ids[0] ?? "") : inArray(id, [...ids]);
}
