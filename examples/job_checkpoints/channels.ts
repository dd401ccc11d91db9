import { eq } from "drizzle-orm";
import { NotFound } from "../../shared/app_error.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import {
  ended,
  type ChannelsRequest,
  type ChannelsResult,
  type Snapshot,
} from "../../gateway/streaming/event_stream_definition.ts";
import { jobs, type Owned } from "../platform_tables.ts";

export function jobChannel({ tenantId, id }: Owned): string {
  return makeChannelName("job", tenantId, id);
}

export async function getChannels({ db, params }: ChannelsRequest): Promise<ChannelsResult> {
  const [job] = await db.select().from(jobs).where(eq(jobs.id, params.id));
  if (job === undefined) throw new NotFound("No such job");
  const channel = jobChannel(job);
  return job.endedAt === null ? [channel] : ended(channel);
}

export async function getSnapshot({ db, params }: ChannelsRequest): Promise<Snapshot> {
  const [job] = await db.select().from(jobs).where(eq(jobs.id, params.id));
  if (job === undefined) throw new NotFound("No such job");
  const hasEnded = job.endedAt !== null;
  return { events: [{ type: "job.snapshot", data: { job_id: job.id, has_ended: hasEnded } }], hasEnded };
}
