import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE, type SSEStreamingApi } from "hono/streaming";

/** Hono's `streamSSE` on `@hono/node-server`: an event is written to each stream. */
const streams = new Set<SSEStreamingApi>();
const app = new Hono()
  .get("/events", (context) =>
    streamSSE(context, async (stream) => {
      streams.add(stream);
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      streams.delete(stream);
    }),
  )
  .post("/publish", async (context) => {
    const data = await context.req.text();
    for (const stream of streams) void stream.writeSSE({ event: "scan.progress", data });
    return context.body("", 200, { "Content-Length": "0" });
  });
const listener = getRequestListener(app.fetch);
const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`LISTEN ${address.port}\n`);
});
process.once("SIGTERM", () => process.exit(0));
