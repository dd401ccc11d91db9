import { createGatewayPublisher, makeChannelName } from "scanstream/events";

/**
 * `node publish.ts TENANT_ID JOB_ID`, with `SCANSTREAM_URL` and `SCANSTREAM_API_KEY` (scope `publish`): a job that tells its progress,
 * and its end. It stores its state before it publishes: a client that reads after an event finds what the event said.
 */

const { SCANSTREAM_URL = "", SCANSTREAM_API_KEY = "" } = process.env;
const [tenantId = "", jobId = ""] = process.argv.slice(2);

const { sendEvent, close } = createGatewayPublisher({ url: SCANSTREAM_URL, apiKey: SCANSTREAM_API_KEY });
// The job's own tenant: a key of another one is refused.
const channel = makeChannelName("job", tenantId, jobId);
const total = 3;
for (let done = 1; done <= total; done += 1) {
  await sendEvent(channel, "job.progress", { job_id: jobId, done, total });
}
await sendEvent(channel, "job.end", { job_id: jobId, status: "succeeded" });
await close();
