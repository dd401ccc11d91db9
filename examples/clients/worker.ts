import type { ScanEvents } from "scanstream/events";
import { subscribe } from "scanstream/subscribe";

/** A Cloudflare Worker: `GET /?scan=ID` answers when the scan has ended, with its counts. */

interface Variables {
  readonly SCANSTREAM_URL: string;
  readonly SCANSTREAM_API_KEY: string;
}

export default {
  async fetch(request: Request, { SCANSTREAM_URL, SCANSTREAM_API_KEY }: Variables): Promise<Response> {
    const scanId = new URL(request.url).searchParams.get("scan") ?? "";
    const subscription = subscribe<ScanEvents>(new URL(`/api/v1/scans/${scanId}/event-stream`, SCANSTREAM_URL), {
      apiKey: SCANSTREAM_API_KEY,
      // The stream is given back when the client goes.
      signal: request.signal,
    });
    const end = await subscription.finished;
    if (end.state === "failed") return Response.json({ problem: end.error.message }, { status: 502 });
    return Response.json(end.state === "ended" ? (end.event?.data ?? null) : null);
  },
};
