import { eq } from "drizzle-orm";
import { NotFound } from "../../shared/app_error.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import type { ChannelsRequest } from "../../gateway/streaming/event_stream_definition.ts";
import { workspaces, type Owned } from "../platform_tables.ts";

export function workspaceChannel({ tenantId, id }: Owned): string {
  return makeChannelName("workspace", tenantId, id);
}

export async function getChannels({ db, params }: ChannelsRequest): Promise<readonly string[]> {
  const [workspace] = await db.select().from(workspaces).where(eq(workspaces.id, params.id));
  if (workspace === undefined) throw new NotFound("No such workspace");
  return [workspaceChannel(workspace)];
}
