import { defineEventStream } from "../../gateway/streaming/event_stream_definition.ts";
import { getChannels } from "./channels.ts";

/** What other clients change in a workspace; it never ends: `app.route("/api/v1/workspaces", workspaceEventStream)`. */
export const workspaceEventStream = defineEventStream({ prefix: "workspace", getChannels });
