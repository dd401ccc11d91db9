import { subscribe } from "../../../shared/client/subscribe.ts";

// A client for `scanstream conformance client`: `subscribe`, with what its caller gives it.
const { STREAM_URL = "", TOKEN_URL = "", STATE_URL = "", HEARTBEAT_SECONDS = "15", ENDS = "1" } = process.env;
let ends = 0;
const subscription = subscribe<Record<string, object>>(STREAM_URL, {
  heartbeatMs: Number(HEARTBEAT_SECONDS) * 1000,
  backoffMs: [50, 500],
  getAccessToken: async (request) => {
    const response = await fetch(TOKEN_URL, { method: "POST", signal: request.signal });
    return ((await response.json()) as { readonly access_token: string }).access_token;
  },
  refetch: async (signal) => (await fetch(STATE_URL, { signal })).json(),
  isEnd: ({ type }) => type === "scan.end" && ++ends === Number(ENDS),
  onEvent: ({ type, data }) => console.log(JSON.stringify({ event: type, data })),
});
const end = await subscription.finished;
if (end.state === "failed") console.error(end.error.message);
