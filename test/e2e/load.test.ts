import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LoadReport } from "../../conformance/load/run_load.ts";
import { startConformance, temporaryFolder, type Outcome } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";
import { startTestGateway } from "../support/test_gateway.ts";

/** `load`: what it counts is what the gateway counts. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const key = { SCANSTREAM_API_KEY: "scs_key" };

function load(url: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  return startConformance(["load", url, ...args], { cwd: folder.path, env }).finished;
}

test("counts streams and events as the gateway's metrics do", async () => {
  const gateway = await startTestGateway();
  try {
    const env = { SCANSTREAM_API_KEY: gateway.acme.apiKey };
    const args = ["--streams", "60", "--seconds", "2", "--publish", "20", "--format", "json"];
    const { code, stdout } = await load(gateway.url, env, ...args);
    const report = JSON.parse(stdout) as LoadReport;
    const { published } = report;
    expect(code).toBe(0);
    expect(report).toMatchObject({
      streams: 60,
      opened: 60,
      open_at_start: 60,
      open_at_end: 60,
      reconnects: 0,
      refused: [],
      failed: {},
    });
    expect(report).toMatchObject({ lost: 0, missed_while_reconnecting: 0, repeated: 0, closed: {} });
    expect(published).toBeGreaterThan(5);
    expect(report.events).toBe(60 * (published ?? 0));
    expect(report.delivery_ms?.max).toBeGreaterThan(0);
    await expect.poll(() => metric(gateway.url, "scanstream_streams_open")).toBe(0);
    expect(await metric(gateway.url, "scanstream_streams_opened_total")).toBe(report.opened);
    expect(await metric(gateway.url, "scanstream_events_delivered_total")).toBe(report.events);
    expect(await metric(gateway.url, 'scanstream_events_published_total{outcome="taken"}')).toBe(published);
    // What it registered has ended.
    const scans = await gateway.request("/api/v1/scans", { as: `Api-Key ${gateway.acme.apiKey}` });
    expect(await scans.json()).toMatchObject({ items: [{ status: "cancelled" }] });
  } finally {
    await gateway.stop();
  }
});

test("says what the gateway's limits answered", async () => {
  const gateway = await startTestGateway({ EVENTSTREAM_MAX_STREAMS_PER_TENANT: "5" });
  try {
    const env = { SCANSTREAM_API_KEY: gateway.acme.apiKey };
    const { code, stdout } = await load(gateway.url, env, "--streams", "8", "--seconds", "1", "--publish", "1");
    expect(stdout).toMatch(/^Streams {5}8 asked for, 5 open at the end\nOpened {6}5 in /);
    expect(stdout).toMatch(
      /^Refused {5}[3-6] with 429, Retry-After \d+(?: to \d+)? s: The tenant's limit of 5 open streams is reached$/m,
    );
    expect(code).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test("an event that an open stream did not receive is lost, and exit 1", async () => {
  await using gateway = await startLossyGateway(2);
  const { code, stdout } = await load(gateway.url, key, "--streams", "2", "--seconds", "2", "--publish", "5");
  expect(stdout).toMatch(/^Lost {8}2 while a stream was open, 0 between two openings$/m);
  expect(code).toBe(1);
});

const noKey = "SCANSTREAM_API_KEY is not set: expected a key of a tenant that is there for this\n";
const wrong: readonly (readonly [args: string, env: Readonly<Record<string, string>>, message: string])[] = [
  ["http://127.0.0.1:9", {}, noKey],
  [
    "https://scans.example.com",
    key,
    "URL https://scans.example.com is not this machine: add --allow-remote if the gateway is yours\n",
  ],
  [
    "http://127.0.0.1:9 --publish 1 --scan 8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11",
    key,
    "--publish: expected without --scan: it registers its own\n",
  ],
];
test.each(wrong)("%s: one line, and exit 2", async (args, env, message) => {
  const [url = "", ...rest] = args.split(" ");
  expect(await load(url, env, ...rest)).toEqual({ code: 2, stdout: "", stderr: message });
});

test("more streams than this process may open files: one line, and exit 2", async () => {
  const { code, stderr } = await startConformance(["load", "http://127.0.0.1:9", "--streams", "1000"], {
    cwd: folder.path,
    env: key,
    shell: 'ulimit -n 256; "$@"',
  }).finished;
  expect(stderr).toBe(
    "--streams 1000: this process may open 256 files: expected at most 192, or ulimit -n 1064 before; the gateway needs as many\n",
  );
  expect(code).toBe(2);
});

test("a gateway that cannot be reached: exit 3", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await load(url, key, "--streams", "2", "--seconds", "1");
  expect(stderr).toMatch(/^No stream of \S+ could be opened$/m);
  expect(code).toBe(3);
});

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1));
}

/** Takes events and passes them on to its streams, but one. */
async function startLossyGateway(lostNumber: number): Promise<AsyncDisposable & { readonly url: string }> {
  const streams = new Set<ServerResponse>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.url?.endsWith("/event-stream") === true) {
      streams.add(response);
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n");
      return;
    }
    const { type, data } = JSON.parse(Buffer.concat(chunks).toString() || "{}") as {
      readonly type?: string;
      readonly data?: { readonly number: number };
    };
    if (data !== undefined && data.number !== lostNumber) {
      for (const stream of streams) stream.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    }
    response.end(JSON.stringify({ id: "8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11", channel: "scan:a:b" }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
