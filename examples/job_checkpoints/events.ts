import type { Publisher } from "../../shared/broker.ts";
import { sendEvent } from "../../shared/send_event.ts";

type Checkpoint = {
  readonly job_id: string;
  readonly checkpoint: string;
  readonly done: number;
  readonly total: number;
};
type JobEnd = { readonly job_id: string; readonly status: "succeeded" | "failed" };

export function publishJobProgress(publisher: Publisher, channel: string, payload: Checkpoint): Promise<void> {
  return sendEvent(publisher, channel, "job.progress", payload);
}

export function publishJobEnd(publisher: Publisher, channel: string, payload: JobEnd): Promise<void> {
  return sendEvent(publisher, channel, "job.end", payload);
}
