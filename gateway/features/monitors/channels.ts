import { eq } from "drizzle-orm";
import { monitors } from "../../../drizzle/schema.ts";
import { NotFound } from "../../../shared/app_error.ts";
import {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type ChannelsResult,
  type Snapshot,
} from "../../streaming/event_stream_definition.ts";
import { monitorChannel, monitorPrefix } from "./events.ts";
import { toMonitor } from "./monitor.ts";
import { selectMonitor } from "./monitor_store.ts";

/** The channel of the requested monitor. Rejects with `NotFound` for one that is not there or not visible in the tenant. */
export async function getChannels({ db, params }: Pick<ChannelsRequest, "db" | "params">): Promise<ChannelsResult> {
  const { id, tenantId, endedAt } = monitors;
  const [row] = await db.select({ id, tenantId, endedAt }).from(monitors).where(eq(id, params.id));
  if (row === undefined) throw new NotFound("No such monitor");
  const channel = monitorChannel(row.tenantId, row.id);
  return row.endedAt === null ? [channel] : ended(channel);
}

/** `GET /:id/event-stream`: a monitor, live, until its `monitor.end`; not until its producer stops. */
export const monitorEventStream = defineEventStream({
  prefix: monitorPrefix,
  getChannels,
  getSnapshot,
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

async function getSnapshot({ db, params }: ChannelsRequest): Promise<Snapshot> {
  const row = await selectMonitor(db, params.id);
  return {
    events: [{ type: "monitor.snapshot", data: toMonitor(row, Date.now()) }],
    hasEnded: row.endedAt !== null,
  };
}
