import { defineEventStream } from "../../gateway/streaming/event_stream_definition.ts";
import { getChannels } from "./channels.ts";

/** A model's answer, token by token, for the user who asked: `app.route("/api/v1/completions", completionEventStream)`. */
export const completionEventStream = defineEventStream({
  prefix: "completion",
  getChannels,
});
