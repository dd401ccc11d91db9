import { eq } from "drizzle-orm";
import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import { ended, type ChannelsRequest, type ChannelsResult } from "../../gateway/streaming/event_stream_definition.ts";
import { completions, type Owned } from "../platform_tables.ts";

export function completionChannel({ tenantId, id }: Owned): string {
  return makeChannelName("completion", tenantId, id);
}

export async function getChannels({ principal, db, params }: ChannelsRequest): Promise<ChannelsResult> {
  const [completion] = await db.select().from(completions).where(eq(completions.id, params.id));
  if (completion === undefined) throw new NotFound("No such completion");
  if (completion.createdBy !== principal.id) throw new PermissionDenied("Only the user who asked may read the answer");
  const channel = completionChannel(completion);
  return completion.endedAt === null ? [channel] : ended(channel);
}
