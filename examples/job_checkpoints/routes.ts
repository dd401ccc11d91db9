import { defineEventStream } from "../../gateway/streaming/define_event_stream.ts";
import { getChannels, getSnapshot } from "./channels.ts";

/** The checkpoints of a long-running job: `app.route("/api/v1/jobs", jobEventStream)`. */
export const jobEventStream = defineEventStream({
  prefix: "job",
  getChannels,
  getSnapshot,
});
