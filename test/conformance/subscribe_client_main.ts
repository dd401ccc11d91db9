import { subscribe } from "../../shared/client/subscribe.ts";

// A client for `npm run conformance -- client`: `subscribe`, with what its caller gives it.
const { STREAM_URL = "", TOKEN_URL = "", STATE_URL = "", HEARTBEAT_SECONDS = "15" } = process.env;
type Events = Record<string, Readonly<Record<string, unknown>>>;

function print({ type, data }: { readonly type: string; readonly data: object }): void {
  console.log(JSON.stringify({ event: type, data }));
}

const subscription = subscribe<Events>(STREAM_URL.replace("?snapshot=1", ""), {
  heartbeatMs: Number(HEARTBEAT_SECONDS) * 1000,
  backoffMs: [50, 500],
  getAccessToken: async (request) => {
    const response = await fetch(TOKEN_URL, { method: "POST", signal: request.signal });
    return ((await response.json()) as { readonly access_token: string }).access_token;
  },
  // Either the server sends the state, or it is read.
  ...(STREAM_URL.endsWith("?snapshot=1")
    ? { onSnapshot: (snapshot) => snapshot.forEach(print) }
    : { refetch: async (signal: AbortSignal) => (await fetch(STATE_URL, { signal })).json() }),
  onEvent: print,
});
const end = await subscription.finished;
if (end.state === "failed") console.error(end.error.message);
