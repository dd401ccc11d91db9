import type { TenantEvents } from "scanstream/events";
import { subscribe } from "scanstream/subscribe";

/**
 * `deno run --allow-net --allow-env deno.ts SCAN_ID…`, with `SCANSTREAM_URL` and `SCANSTREAM_API_KEY`: several scans on one
 * connection, each from its present state to its end.
 */

const query = Deno.args.map((id) => `scan_id=${id}`).join("&");
const subscription = subscribe<TenantEvents>(new URL(`/api/v1/event-stream?${query}`, Deno.env.get("SCANSTREAM_URL")), {
  apiKey: Deno.env.get("SCANSTREAM_API_KEY") ?? "",
  onSnapshot(snapshot) {
    for (const { type, data } of snapshot) {
      if (type === "scan.snapshot") console.log(data.org_url, `${data.checks_done} of ${data.checks_total}`);
    }
  },
  onEvent(event) {
    if (event.type === "scan.end") console.log(event.data.scan_id, event.data.status);
  },
});
const end = await subscription.finished;
if (end.state === "failed") throw end.error;
