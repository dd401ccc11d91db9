import { request } from "undici";
import { pause } from "../../shared/abortable.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import { randomUUID } from "node:crypto";

/** A gateway, and a tenant that uses it: its key, and the address that a proxy has seen. */
export interface GatewayUse {
  readonly url: string;
  readonly key: string;
  readonly address: string;
}

export function headersOf({ key, address }: GatewayUse) {
  return { authorization: `Api-Key ${key}`, "x-forwarded-for": address };
}

const requestEveryMs = 25;
const eventEveryMs = 200;
/** Events that were published last may still be on their way. */
const graceMs = 30_000;
/** No answer for so long is a failure. */
const headersTimeout = 60_000;

/** Uses the gateway for so long as the victim: reads a list, publishes events and follows them. */
export async function useAsVictim(use: GatewayUse, durationMs: number) {
  const { url, key } = use;
  const durationsMs: number[] = [];
  const counts = { requests: 0, published: 0, received: 0 };
  /** How often an answer was not 2xx, or a connection failed, for each reason. */
  const failed: Record<string, number> = {};
  const headers = { ...headersOf(use), "content-type": "application/json" };
  const send = async (method: "GET" | "POST", path: string, body?: object) => {
    counts.requests += 1;
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const begunMs = performance.now();
    const answer = await request(new URL(path, url), { method, headers, ...text, headersTimeout });
    durationsMs.push(performance.now() - begunMs);
    const json = (await answer.body.json()) as Readonly<Record<string, string>>;
    if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${json["detail"]}`);
    return json;
  };
  const note = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    failed[reason] = (failed[reason] ?? 0) + 1;
  };
  const { channel = "", event_stream: stream = "" } = await send("POST", "/api/v1/scans", {});
  const events = `/api/v1/channels/${encodeURIComponent(channel)}/events`;
  const opened = Promise.withResolvers<void>();
  const subscription = subscribe(new URL(stream, url), {
    apiKey: key,
    onStateChange: (state) => void (state === "live" && opened.resolve()),
    onEvent: ({ type }) => void (counts.received += type === "scan.progress" ? 1 : 0),
  });
  await opened.promise;
  const over = AbortSignal.timeout(durationMs);
  const reading = repeat(requestEveryMs, over, () => send("GET", "/api/v1/scans?limit=20").then(undefined, note));
  const publishing = repeat(eventEveryMs, over, () =>
    send("POST", events, { type: "scan.progress", data: {}, delivery_id: `${randomUUID()}.1` }).then(
      () => (counts.published += 1),
      note,
    ),
  );
  await Promise.all([reading, publishing]);
  for (let waitedMs = 0; counts.received < counts.published && waitedMs < graceMs; waitedMs += 50) await pause(50, []);
  subscription.close();
  await subscription.finished;
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const [p50Ms = 0, p99Ms = 0] = [0.5, 0.99].map((part) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0));
  /** Events that were published, and did not come on the victim's stream. */
  const lost = Math.max(0, counts.published - counts.received);
  return { requests: counts.requests, p50Ms, p99Ms, failed, lost };
}

/** At even times, whether the one before was answered or not: a slow gateway is not asked less. */
async function repeat(everyMs: number, over: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  const all: Promise<unknown>[] = [];
  while (!over.aborted) {
    all.push(work());
    await pause(everyMs, [over]);
  }
  await Promise.all(all);
}
