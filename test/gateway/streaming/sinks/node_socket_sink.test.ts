import { once } from "node:events";
import { Agent, createServer } from "node:http";
import { connect } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { encodeChunk } from "../../../../gateway/streaming/event_stream_encoding.ts";
import { createNodeSocketSinks, withNodeSockets } from "../../../../gateway/streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../../../../gateway/streaming/sinks/readable_stream_sink.ts";
import type { Sink } from "../../../../gateway/streaming/sinks/sink.ts";
import { listen } from "../../../support/listen.ts";
import { sendRequest } from "../../../support/stream_server.ts";

const createSink = createNodeSocketSinks(createReadableStreamSinks());
const first = encodeChunk(": first\n\n");

/** An app whose `/stream` is open at once, with more around it. */
function createStreamApp(configure: (app: Hono) => void = () => {}) {
  const opened: { readonly sink: Sink; readonly closedCount: () => number }[] = [];
  const app = new Hono();
  configure(app);
  app.get("/stream", (c) => {
    let closedCount = 0;
    const principal = { kind: "user", tenantId: "", id: "", expiresAtMs: null, onlyStream: null } as const;
    const request = { request: c.req.raw, principal, name: "/stream", channels: [], platform: c.env };
    const sink = createSink(request, { onClosed: () => void (closedCount += 1) });
    opened.push({ sink, closedCount: () => closedCount });
    return sink.open(first);
  });
  app.get("/plain", (c) => c.text("plain"));
  const listener = getRequestListener(withNodeSockets((request, env) => app.fetch(request, env)));
  return { app, opened, listener };
}

async function start(listener: ReturnType<typeof createStreamApp>["listener"]): Promise<number> {
  const { port, close } = await listen(createServer((incoming, outgoing) => void listener(incoming, outgoing)));
  onTestFinished(close);
  return port;
}

test("Node socket sink: what is written and ended while the response passes through middleware follows its head", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { opened, listener } = createStreamApp((app) => {
    app.use(async (c, next) => {
      await next();
      await promise;
      c.header("x-late", "yes");
    });
  });
  const port = await start(listener);
  const client = sendRequest(port, "/stream");
  await expect.poll(() => opened).toHaveLength(1);
  const waiting = opened[0]?.sink.write(encodeChunk("data: early\n\n"));
  expect(waiting).toBeGreaterThan(0);
  expect(client.response).toBeNull();
  opened[0]?.sink.end(encodeChunk(": close drain\n\n"));
  resolve();
  await expect.poll(() => client.response?.complete).toBe(true);
  expect(client.text).toBe(": first\n\ndata: early\n\n: close drain\n\n");
  expect(client.response?.headers["x-late"]).toBe("yes");
  await expect.poll(() => opened[0]?.closedCount()).toBeGreaterThan(0);
});

test("Node socket sink: when middleware sends an error instead of the stream, the stream is closed", async () => {
  const { opened, listener } = createStreamApp((app) => {
    app.onError(() => new Response("failed", { status: 500 }));
    app.use("/stream", async (_c, next) => {
      await next();
      throw new Error("behind the stream");
    });
  });
  const port = await start(listener);
  // Both on one connection.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const client = sendRequest(port, "/stream", agent);
  await expect.poll(() => client.response?.statusCode).toBe(500);
  expect(opened[0]?.closedCount()).toBeGreaterThan(0);
  opened[0]?.sink.write(encodeChunk("data: late\n\n"));
  const next = sendRequest(port, "/plain", agent);
  await expect.poll(() => next.text).toBe("plain");
  expect(next.request.reusedSocket).toBe(true);
});

test("Node socket sink: destroy resets the connection, so that the kernel keeps no unread bytes", async () => {
  const { opened, listener } = createStreamApp();
  const port = await start(listener);
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("GET /stream HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "data");
  socket.pause();
  const chunk = encodeChunk(`data: ${"x".repeat(65_000)}\n\n`);
  for (let n = 0; n < 300 && (opened[0]?.sink.write(chunk) ?? 0) < 1_000_000; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  opened[0]?.sink.destroy();
  // After a mere close the kernel goes on sending what it holds, and the client reads to a proper end.
  const reset = once(socket, "error");
  socket.resume();
  const [error] = (await reset) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNRESET");
});

test.each([
  ["in HTTP/1.0", "GET /stream HTTP/1.0\r\nhost: x\r\n\r\n", /\r\n\r\n: first\n\ndata: 1\n\n: last\n\n$/],
  [
    "before the answer to the request before it",
    "GET /slow HTTP/1.1\r\nhost: x\r\n\r\nGET /stream HTTP/1.1\r\nhost: x\r\n\r\n",
    /slow[^]*HTTP\/1.1 200[^]*: first\n\n\r\n[^]*data: 1\n\n\r\n[^]*: last\n\n\r\n0\r\n\r\n$/,
  ],
])("Node socket sink: a stream that is requested %s is whole", async (_when, request, expected) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { opened, listener } = createStreamApp((app) => {
    app.get("/slow", async (c) => {
      await promise;
      return c.text("slow");
    });
  });
  const port = await start(listener);
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (more: string) => (text += more));
  socket.write(request);
  await expect.poll(() => opened).toHaveLength(1);
  opened[0]?.sink.write(encodeChunk("data: 1\n\n"));
  resolve();
  opened[0]?.sink.end(encodeChunk(": last\n\n"));
  await expect.poll(() => text).toMatch(expected);
  await expect.poll(() => opened[0]?.closedCount()).toBeGreaterThan(0);
});
