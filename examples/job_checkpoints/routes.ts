import { defineEventStream } from "../../gateway/streaming/event_stream_definition.ts";
import { getChannels, getSnapshot } from "./channels.ts";

/** The checkpoints of a long-running job: `app.route("/api/v1/jobs", jobEventStream)`. */
export const jobEventStream = defineEventStream({
  prefix: "job",
  getChannels,
  getSnapshot,
});
