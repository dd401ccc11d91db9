import { request } from "undici";
import { pause } from "../../shared/abortable.ts";

/** A gateway, and the keys of two tenants: one that attacks, one that uses it as everybody does. */
export interface GatewayUse {
  readonly url: string;
  readonly attackerKey: string;
  readonly victimKey: string;
}

export interface VictimFigures {
  readonly requests: number;
  /** Answers that were not 200, and connections that failed. */
  readonly failed: number;
  /** How often each of these was the reason. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Events that were published, and did not come on the victim's stream. */
  readonly lost: number;
}

const requestEveryMs = 25;
const eventEveryMs = 200;
/** What was published at the end may still be on its way. */
const graceMs = 3000;

/** Uses the gateway for so long as the victim: reads a list, publishes events and follows them. */
export async function useAsVictim(use: GatewayUse, durationMs: number): Promise<VictimFigures> {
  const times: number[] = [];
  const reasons: Record<string, number> = {};
  const fail = (reason: string) => void (reasons[reason] = (reasons[reason] ?? 0) + 1);
  const over = AbortSignal.timeout(durationMs);
  const stream = await follow(use);
  const reading = repeat(requestEveryMs, over, async () => {
    const begunMs = performance.now();
    const answer = await send(use, "GET", "/api/v1/scans?limit=20");
    times.push(performance.now() - begunMs);
    if (answer !== "200") fail(answer);
  });
  let published = 0;
  const publishing = repeat(eventEveryMs, over, async () => {
    const event = { type: "scan.progress", data: { n: published + 1 } };
    const answer = await send(use, "POST", stream.eventsPath, JSON.stringify(event));
    if (/^2\d\d$/.test(answer)) published += 1;
    else fail(answer);
  });
  await Promise.all([reading, publishing]);
  for (let waitedMs = 0; stream.received() < published && waitedMs < graceMs; waitedMs += 50) await pause(50, []);
  await stream.close();
  times.sort((one, other) => one - other);
  const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
  const lost = Math.max(0, published - stream.received());
  const failed = Object.values(reasons).reduce((sum, count) => sum + count, 0);
  return { requests: times.length, failed, reasons, p50Ms: at(0.5), p99Ms: at(0.99), lost };
}

/** At even times, whether the one before was answered or not: a slow gateway is not asked less. */
async function repeat(everyMs: number, over: AbortSignal, work: () => Promise<void>): Promise<void> {
  const all: Promise<void>[] = [];
  while (!over.aborted) {
    all.push(work());
    await pause(everyMs, [over]);
  }
  await Promise.all(all);
}

async function follow(use: GatewayUse) {
  const registered = await request(new URL("/api/v1/scans", use.url), {
    method: "POST",
    headers: headersOf(use),
    body: "{}",
  });
  if (registered.statusCode !== 201)
    throw new Error(`The victim cannot register a scan: ${await registered.body.text()}`);
  const scan = (await registered.body.json()) as { readonly channel: string; readonly event_stream: string };
  const leaving = new AbortController();
  const response = await fetch(new URL(scan.event_stream, use.url), {
    headers: headersOf(use),
    signal: leaving.signal,
  });
  let received = 0;
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk, { stream: true }).split("event: scan.progress\n").length - 1;
    }
  })().catch(() => undefined);
  return {
    eventsPath: `/api/v1/channels/${encodeURIComponent(scan.channel)}/events`,
    received: () => received,
    async close() {
      leaving.abort();
      await reading;
    },
  };
}

function headersOf({ victimKey }: GatewayUse) {
  return { authorization: `Api-Key ${victimKey}`, "content-type": "application/json" };
}

/** The status, with what a refusal says, or why there is none. */
async function send(use: GatewayUse, method: "GET" | "POST", path: string, body?: string): Promise<string> {
  try {
    const { statusCode, body: answer } = await request(new URL(path, use.url), {
      method,
      headers: headersOf(use),
      ...(body === undefined ? {} : { body }),
      headersTimeout: 10_000,
    });
    const text = await answer.text();
    return statusCode < 300 ? String(statusCode) : `${statusCode} ${(JSON.parse(text) as { detail?: string }).detail}`;
  } catch (error) {
    return error instanceof Error ? ((error as { readonly code?: string }).code ?? error.message) : String(error);
  }
}
