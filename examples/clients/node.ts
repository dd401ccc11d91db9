import type { ScanEvents } from "scanstream/events";
import { follow } from "scanstream/subscribe";

/** `node node.ts SCAN_ID`, with `SCANSTREAM_URL` and `SCANSTREAM_API_KEY`: prints the findings of a scan until it ends. */

const { SCANSTREAM_URL, SCANSTREAM_API_KEY = "" } = process.env;
const url = new URL(`/api/v1/scans/${process.argv[2]}/event-stream`, SCANSTREAM_URL);

// Throws what the gateway refuses; a connection that is lost is opened again.
for await (const event of follow<ScanEvents>(url, { apiKey: SCANSTREAM_API_KEY })) {
  if (event.type === "finding.created") console.log(event.data.status, event.data.check, event.data.resource_name);
  if (event.type === "scan.end") console.log(event.data.status);
}
