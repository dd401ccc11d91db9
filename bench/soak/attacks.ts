import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { request } from "undici";
import { pause } from "../../shared/abortable.ts";
import { headersOf, type GatewayUse } from "./victim.ts";

/** Attacks of a hostile tenant on a gateway that others share with it. Every attack goes on until its signal aborts. */
export interface Attack {
  readonly name: string;
  /** Its trials, for the table. */
  readonly tries: string;
  run(use: GatewayUse, signal: AbortSignal): Promise<void>;
}

const mebibyte = 1_048_576;

const single: readonly Attack[] = [
  {
    name: "nothing",
    tries: "a list now and then: what the machine itself costs the fourth",
    run: (use, signal) => together(1, signal, async () => void (await send(use, "GET", "/api/v1/scans"))),
  },
  {
    name: "pipelining",
    tries: "20 connections, 400 requests at once on each",
    run: (use, signal) => hold("resume", 20, use, signal, head(use, "GET", "/api/v1/scans?limit=200").repeat(400)),
  },
  {
    name: "unread reports",
    tries: "400 readers of a report of 3 MiB who read nothing",
    run: async (use, signal) => hold("pause", 400, use, signal, head(use, "GET", await storeReport(use))),
  },
  {
    name: "bodies without an end",
    tries: "140 bodies of 1 MiB that lack a byte",
    async run(use, signal) {
      const { channel } = await registerScan(use);
      const path = `/api/v1/channels/${channel}/events`;
      const headers = `content-type: application/json\r\ncontent-length: ${mebibyte}\r\n`;
      await hold("resume", 140, use, signal, head(use, "POST", path, headers) + " ".repeat(mebibyte - 1));
    },
  },
  {
    name: "hostile bodies",
    tries: "4 senders of 1 MiB of brackets and of keys",
    async run(use, signal) {
      const { channel } = await registerScan(use);
      const bodies = ["[".repeat(mebibyte - 1), `{${Array.from({ length: 70_000 }, (_, n) => `"k${n}":1`).join(",")}}`];
      await together(4, signal, async (index) => {
        await send(use, "POST", `/api/v1/channels/${channel}/events`, bodies[index % bodies.length] ?? "");
      });
    },
  },
  {
    name: "batches of events",
    tries: "30 senders of 500 events that are not stored",
    async run(use, signal) {
      const { channel } = await registerScan(use);
      const path = `/api/v1/channels/${channel.replace("scan:", "job:")}/events`;
      const event = { type: "job.progress", data: { done: 12, total: 29, check: "" } };
      const body = JSON.stringify({ events: Array.from({ length: 500 }, () => event) });
      await together(30, signal, () => send(use, "POST", path, body));
    },
  },
  {
    name: "large lists",
    tries: "100 readers of lists of findings with 4,000 characters a text",
    async run(use, signal) {
      const { id, channel } = await registerScan(use);
      const text = "x".repeat(4000);
      const texts = { resource_name: "", expected: text, actual: text, detail: text };
      for (let start = 0; start < 200; start += 50) {
        const events = Array.from({ length: 50 }, (_, n) => ({
          type: "finding.created",
          data: {
            scan_id: id,
            fingerprint: String(start + n),
            check: "c",
            status: "FAIL",
            severity: "medium",
            ...texts,
          },
          delivery_id: `lists.${start + n + 1}`,
        }));
        await send(use, "POST", `/api/v1/channels/${channel}/events`, JSON.stringify({ events }));
      }
      await together(100, signal, () => send(use, "GET", `/api/v1/scans/${id}/findings?limit=200`));
    },
  },
  {
    name: "unread streams",
    tries: "200 readers of streams who read nothing, and 60 KB twenty times a second",
    async run(use, signal) {
      const { event_stream: path, channel } = await registerScan(use);
      const events = `/api/v1/channels/${encodeURIComponent(channel)}/events`;
      const event = JSON.stringify({ type: "scan.delta", data: { text: "x".repeat(60_000) } });
      const publishing = together(1, signal, async () => {
        for (let n = 0; n < 5; n += 1) await send(use, "POST", events, event);
      });
      await hold("pause", 200, use, signal, head(use, "GET", path));
      await publishing;
    },
  },
  {
    name: "openings of streams",
    tries: "300 connections that open a stream and leave",
    async run(use, signal) {
      const { event_stream: path } = await registerScan(use);
      await askOnce(300, use, signal, () => head(use, "GET", path));
    },
  },
  {
    name: "guesses of keys",
    tries: "300 connections, each with another key that does not exist",
    run: (use, signal) =>
      askOnce(300, use, signal, () => {
        const key = `scs_${randomBytes(4).toString("hex")}_${randomBytes(32).toString("hex")}`;
        const path = Math.random() < 0.5 ? "/api/v1/scans" : "/api/v1/scans/event-stream";
        return head({ ...use, key }, "GET", path);
      }),
  },
];

export const attacks: readonly Attack[] = [
  ...single,
  {
    name: "everything",
    tries: "all of these at once",
    run: async (use, signal) => void (await Promise.all(single.map(({ run }) => run(use, signal)))),
  },
];

/** How often this process came through to the gateway: an attack that never did has shown nothing. */
export const reached = { times: 0 };

function head(use: GatewayUse, method: string, path: string, more = ""): string {
  const headers = { host: new URL(use.url).host, ...headersOf(use) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}${more}\r\n`;
}

/** This number of connections at a time, each opened anew when it has ended. */
function sockets(
  count: number,
  { url }: GatewayUse,
  signal: AbortSignal,
  use: (socket: Socket) => Promise<void>,
): Promise<void> {
  const { hostname, port } = new URL(url);
  return together(count, signal, async () => {
    const socket = connect(Number(port), hostname);
    socket.once("connect", () => (reached.times += 1));
    const stop = () => socket.destroy();
    socket.on("error", stop);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await use(socket);
    } finally {
      signal.removeEventListener("abort", stop);
      socket.destroy();
    }
  });
}

/** Connections that stay open after this text, with answers that are read (`resume`) or not (`pause`). */
function hold(reading: "resume" | "pause", count: number, use: GatewayUse, signal: AbortSignal, text: string) {
  return sockets(count, use, signal, async (socket) => {
    socket[reading]();
    socket.write(text);
    await new Promise((done) => socket.once("close", done));
  });
}

/** Requests that leave with the first bytes of their answers. */
function askOnce(count: number, use: GatewayUse, signal: AbortSignal, makeHead: () => string): Promise<void> {
  return sockets(count, use, signal, async (socket) => {
    socket.write(makeHead());
    await new Promise((done) => socket.once("data", done).once("close", done));
  });
}

/** An attacker who opens nothing but connections as fast as a machine can is what a network has to bound. */
const againAfterMs = 250;

/** Runs this number at a time, again and again; what one of them is refused is no failure of the attack. */
async function together(count: number, signal: AbortSignal, work: (index: number) => Promise<unknown>): Promise<void> {
  const again = async (index: number) => {
    while (!signal.aborted) {
      await work(index).catch(() => undefined);
      await pause(againAfterMs, [signal]);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => again(index)));
}

async function send(use: GatewayUse, method: "GET" | "POST" | "PUT", path: string, body?: string | Buffer) {
  const encoding = body instanceof Uint8Array ? { "content-encoding": "gzip" } : {};
  const headers = { ...headersOf(use), "content-type": "application/json", ...encoding };
  const response = await request(new URL(path, use.url), { method, headers, ...(body === undefined ? {} : { body }) });
  reached.times += 1;
  return { status: response.statusCode, text: await response.body.text() };
}

async function registerScan(use: GatewayUse): Promise<Registered> {
  return JSON.parse(await create(use, "POST", "/api/v1/scans", "{}")) as Registered;
}

interface Registered {
  readonly id: string;
  readonly channel: string;
  readonly event_stream: string;
}

/** Creates what the attack needs; while other attacks of the tenant hold its share, it tries again. */
async function create(use: GatewayUse, method: "POST" | "PUT", path: string, body: string | Buffer): Promise<string> {
  for (;;) {
    // A large body that is refused is cut off, at times before its sender has read why.
    const { status, text } = await send(use, method, path, body).catch(() => ({ status: 503, text: "" }));
    if (status === 201) return text;
    if (status !== 429 && status !== 503) throw new Error(`The attacker cannot ${method} ${path}: ${status} ${text}`);
    await pause(againAfterMs, []);
  }
}

/** Stores a report of random text, which cannot be compressed. */
async function storeReport(use: GatewayUse): Promise<string> {
  const { id } = await registerScan(use);
  const path = `/api/v1/scans/${id}/report`;
  await create(use, "PUT", path, gzipSync(JSON.stringify({ padding: randomBytes(3 * mebibyte).toString("base64") })));
  return path;
}
