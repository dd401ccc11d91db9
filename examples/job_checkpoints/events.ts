import type { Publisher } from "../../shared/send_event.ts";

type Checkpoint = {
  readonly job_id: string;
  readonly checkpoint: string;
  readonly done: number;
  readonly total: number;
};
type JobEnd = { readonly job_id: string; readonly status: "succeeded" | "failed" };

export const jobEvents = ({ sendEvent }: Publisher) => ({
  publishJobProgress: (channel: string, payload: Checkpoint) => sendEvent(channel, "job.progress", payload),
  publishJobEnd: (channel: string, payload: JobEnd) => sendEvent(channel, "job.end", payload),
});
