import { createServer, get, type Agent, type IncomingMessage } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import type { AuthorityCheck } from "../../gateway/auth/membership.ts";
import type { StreamBounds } from "../../gateway/config.ts";
import { createLocalStreams, type LocalStreamsOptions } from "../../gateway/streaming/local_streams.ts";
import type { Principal } from "../../gateway/auth/principal.ts";
import { problemResponse } from "../../gateway/http/problem.ts";
import { createNodeSocketSinks, withNodeSockets } from "../../gateway/streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../../gateway/streaming/sinks/readable_stream_sink.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import { listen } from "./listen.ts";

export const tenantId = "11111111-1111-4111-8111-111111111111";
export const otherTenantId = "22222222-2222-4222-8222-222222222222";
export const resourceId = "33333333-3333-4333-8333-333333333333";
export const channel = makeChannelName("job", tenantId, resourceId);

export const bounds: StreamBounds = {
  heartbeatSeconds: 15,
  recheckSeconds: 30,
  maxBufferBytes: 1_048_576,
  maxStreams: 50_000,
  maxStreamsPerTenant: 1000,
  tenantPercent: 25,
  maxLifetimeSeconds: 3600,
};

export const user: Principal = { kind: "user", tenantId, id: "ada", expiresAtMs: null, onlyStream: null };

/** Allows every subject but those that the test has revoked. */
export function createAuthority() {
  const revoked = new Set<string>();
  const stillAllowed: AuthorityCheck = async (_tenantId, subjects) =>
    new Set(subjects.filter(({ id }) => !revoked.has(id)));
  return { revoked, stillAllowed };
}

/** Streams behind a real HTTP server. */
export async function startStreamServer(
  options: Partial<Omit<LocalStreamsOptions, "bounds">> & { readonly bounds?: Partial<StreamBounds> } = {},
) {
  const streams = createLocalStreams({
    subscriber: options.subscriber ?? createMemoryBroker(),
    stillAllowed: createAuthority().stillAllowed,
    lingerMs: 5,
    createSink: createNodeSocketSinks(createReadableStreamSinks()),
    ...options,
    bounds: { ...bounds, ...options.bounds },
  });
  const app = new Hono();
  app.onError((error) => problemResponse(error));
  app.get("/stream", (c) =>
    streams.open({ request: c.req.raw, platform: c.env, name: "/stream", principal: user, channels: [channel] }),
  );
  const listener = getRequestListener(withNodeSockets((request, env) => app.fetch(request, env)));
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const { port, close } = await listen(server);
  const clients: ReturnType<typeof sendRequest>[] = [];
  return {
    streams,
    port,
    /** Opens a stream of `channel`, without waiting for an answer. */
    send() {
      const client = sendRequest(port, "/stream");
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const { request } of clients) request.destroy();
      await streams.drain({ overMs: 0 });
      await close();
    },
  };
}

/** A request, and what has come back of it so far; on a new connection, unless an agent is given. */
export function sendRequest(port: number, path: string, agent: Agent | false = false) {
  const request = get({ host: "127.0.0.1", port, path, agent });
  // Null: no head yet.
  const client = { request, response: null as IncomingMessage | null, text: "" };
  request.on("response", (response) => {
    client.response = response;
    response.setEncoding("utf8").on("data", (text: string) => (client.text += text));
    // However the server ends it.
    response.on("error", () => undefined);
  });
  request.on("error", () => undefined);
  return client;
}
