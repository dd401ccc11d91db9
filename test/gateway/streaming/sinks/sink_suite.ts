import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeChunk } from "../../../../gateway/streaming/encoded_chunk.ts";
import { withNodeSockets } from "../../../../gateway/streaming/sinks/node_socket_sink.ts";
import type { CreateSink, Sink } from "../../../../gateway/streaming/sinks/sink.ts";
import { requestText, sendRaw, type RawClient, type RawRequest } from "../../../support/raw_http_client.ts";

/** The promises of every sink, behind a real HTTP server and read byte by byte. */
export function describeSink(name: string, createSink: CreateSink): void {
  describe(name, () => {
    const cleanups: (() => void)[] = [];
    // What @hono/node-server writes when the portable sink has to destroy its body.
    beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
    afterEach(() => {
      for (const cleanup of cleanups.splice(0)) cleanup();
      for (const [error] of vi.mocked(console.error).mock.calls) {
        expect(String(error)).toBe("Error: The stream was closed");
      }
      vi.restoreAllMocks();
    });

    /** A server whose `/stream` opens a sink that the test controls. */
    async function start(options: { readonly opens?: Promise<void> } = {}) {
      const opened: OpenedSink[] = [];
      const app = new Hono();
      app.use(async (c, next) => {
        await next();
        c.header("x-set-behind", "yes");
        c.header("vary", "Origin", { append: true });
        c.header("set-cookie", "a=1", { append: true });
        c.header("set-cookie", "b=2", { append: true });
      });
      app.get("/stream", async (c) => {
        let closedCount = 0;
        const owner = { onClosed: () => void (closedCount += 1) };
        const stream = {
          request: c.req.raw,
          principal: { kind: "user", tenantId: "", id: "", expiresAtMs: null, onlyStream: null } as const,
          name: "/stream",
          channels: [],
          platform: c.env,
        };
        const sink = createSink(stream, owner);
        opened.push({ sink, closedCount: () => closedCount });
        await options.opens;
        return sink.open(first);
      });
      app.get("/plain", (c) => c.text("plain"));
      // A listener of its own `Response` class, as `serve` makes it.
      const listener = getRequestListener(withNodeSockets((request, env) => app.fetch(request, env)));
      const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      cleanups.push(() => stop(server));
      const { port } = server.address() as AddressInfo;
      return { opened, port };
    }

    async function send(request: RawRequest): Promise<RawClient> {
      const client = await sendRaw(request);
      cleanups.push(() => client.socket.destroy());
      return client;
    }

    async function open(request: Partial<RawRequest> = {}) {
      const { opened, port } = await start();
      const client = await send({ path: "/stream", port, ...request });
      await expect.poll(() => opened).toHaveLength(1);
      const [stream] = opened;
      if (stream === undefined) throw new Error("No sink was opened");
      if (request.isPaused !== true) await client.untilBody(": first");
      return { client, port, ...stream };
    }

    test("sends exactly the stream's headers, those of middleware, and the server's own", async () => {
      const { client } = await open();
      const headers = client.headers();
      expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-store, no-transform");
      expect(headers.get("x-accel-buffering")).toBe("no");
      expect(headers.get("x-set-behind")).toBe("yes");
      expect(headers.get("vary")).toBe("Origin");
      expect(client.raw().match(/set-cookie: .*/gi)).toEqual(["set-cookie: a=1", "set-cookie: b=2"]);
      expect(headers.get("transfer-encoding")).toBe("chunked");
      expect(headers.has("content-length")).toBe(false);
      expect(headers.has("content-encoding")).toBe(false);
      expect(headers.has("x-hono-already-sent")).toBe(false);
    });

    test("sends what is written, in order, in UTF-8", async () => {
      const { client, sink } = await open();
      const texts = Array.from({ length: 100 }, (_, n) => `data: ${n} ${"ä€😀".repeat(n)}\n\n`);
      for (const [index, text] of texts.entries()) {
        sink.write(encodeChunk(text));
        if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await client.untilBody("data: 99")).toBe(`: first\n\n${texts.join("")}`);
    });

    test("sends one chunk to many clients without changing it", async () => {
      const { opened, port } = await start();
      const clients = await Promise.all([1, 2, 3].map(() => send({ path: "/stream", port })));
      for (const client of clients) await client.untilBody(": first");
      const chunk = encodeChunk("data: shared\n\n");
      const before = chunk.chunked.slice();
      for (let round = 0; round < 2; round += 1) for (const { sink } of opened) sink.write(chunk);
      for (const client of clients) {
        await client.until(() => client.body() === ": first\n\ndata: shared\n\ndata: shared\n\n");
      }
      expect(chunk.chunked).toEqual(before);
    });

    test("reports how many bytes are buffered for a client that does not read", async () => {
      const { client, sink } = await open();
      client.socket.pause();
      const chunk = encodeChunk(`data: ${"x".repeat(65_000)}\n\n`);
      // More than any socket's buffers hold.
      let waiting = 0;
      for (let n = 0; n < 300 && waiting < 1_000_000; n += 1) {
        waiting = sink.write(chunk);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(waiting).toBeGreaterThanOrEqual(1_000_000);
      expect(sink.bufferedBytes()).toBeGreaterThanOrEqual(1_000_000);
      client.socket.resume();
      await expect.poll(() => sink.bufferedBytes()).toBe(0);
    });

    test("reports 0 for a client that keeps up", async () => {
      const { client, sink } = await open();
      for (let n = 0; n < 20; n += 1) {
        expect(sink.write(encodeChunk(`data: ${n}\n\n`))).toBeLessThan(1000);
        await client.untilBody(`data: ${n}\n`);
      }
      expect(sink.bufferedBytes()).toBe(0);
    });

    test.each([
      ["closes", (client: RawClient) => client.socket.destroy()],
      ["resets", (client: RawClient) => client.socket.resetAndDestroy()],
    ])("notices that the client %s", async (_how, leave) => {
      const { client, sink, closedCount } = await open();
      leave(client);
      await expect.poll(() => closedCount()).toBeGreaterThan(0);
      expect(() => sink.write(encodeChunk("data: late\n\n"))).not.toThrow();
      expect(() => sink.end(encodeChunk(": late\n\n"))).not.toThrow();
      expect(() => sink.destroy()).not.toThrow();
    });

    test("notices that the client left before the stream was open", async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { opened, port } = await start({ opens: promise });
      const client = await send({ path: "/stream", port });
      await expect.poll(() => opened).toHaveLength(1);
      client.socket.destroy();
      await expect.poll(() => opened[0]?.closedCount()).toBeGreaterThan(0);
      resolve();
    });

    test("ends with its last bytes, closes, and leaves the connection to the next request", async () => {
      const { client, sink, closedCount } = await open();
      sink.end(encodeChunk(": close ended\n\n"));
      await client.until(() => client.isComplete());
      expect(client.body()).toBe(": first\n\n: close ended\n\n");
      await expect.poll(() => closedCount()).toBeGreaterThan(0);
      client.next();
      client.socket.write(requestText({ path: "/plain", port: 0 }));
      await client.until(() => client.raw().endsWith("plain"));
    });

    test("is destroyed without having been opened", async () => {
      const { promise } = Promise.withResolvers<void>();
      const { opened, port } = await start({ opens: promise });
      await send({ path: "/stream", port });
      await expect.poll(() => opened).toHaveLength(1);
      opened[0]?.sink.destroy();
      expect(opened[0]?.closedCount()).toBeGreaterThan(0);
    });

    test("an end that the client does not read is completed by destroy", async () => {
      const { client, sink, closedCount } = await open();
      client.socket.pause();
      const chunk = encodeChunk(`data: ${"x".repeat(65_000)}\n\n`);
      for (let n = 0; n < 300 && sink.write(chunk) < 1_000_000; n += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      sink.end(encodeChunk(": close slow\n\n"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(closedCount()).toBe(0);
      sink.destroy();
      sink.destroy();
      expect(closedCount()).toBeGreaterThan(0);
      client.socket.resume();
      await client.closed();
      expect(client.isComplete()).toBe(false);
    });

    test("destroy closes the connection at once", async () => {
      const { client, sink, closedCount } = await open();
      sink.destroy();
      await client.closed();
      expect(client.isComplete()).toBe(false);
      expect(closedCount()).toBeGreaterThan(0);
    });

    test("HTTP/1.0 gets no chunks, and the connection closes at the end", async () => {
      const { client, sink } = await open({ version: "1.0" });
      sink.write(encodeChunk("data: 1\n\n"));
      await client.untilBody("data: 1");
      sink.end(encodeChunk(": close ended\n\n"));
      await client.closed();
      expect(client.headers().has("transfer-encoding")).toBe(false);
      expect(client.body()).toBe(": first\n\ndata: 1\n\n: close ended\n\n");
    });
  });
}

interface OpenedSink {
  readonly sink: Sink;
  readonly closedCount: () => number;
}

const first = encodeChunk(": first\n\n");

function stop(server: Server): void {
  server.close();
  server.closeAllConnections();
}
