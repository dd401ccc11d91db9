import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleWorker } from "../test/support/bundle_worker.ts";
import { startNeonProxy } from "../test/support/neon_proxy.ts";
import { startUpstashBridge } from "../test/support/upstash_bridge.ts";
import { prepareWorkerd } from "../test/support/workerd.ts";
import { brokerDatabase, streamPath, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { startProcess } from "./measured_process.ts";

/**
 * The Worker as it is deployed with its Durable Object, in workerd itself: its socket is the one that the clients connect to. Upstash's REST
 * and Neon's HTTP run in this process, before the Redis and the PostgreSQL of the other benches.
 */
export async function startWorkerdServer(backends: Backends): Promise<BenchServer> {
  const { REDIS_URL = "", DATABASE_URL = "", ...common } = backends.environment;
  const { hostname, port } = new URL(DATABASE_URL);
  const bridge = await startUpstashBridge({ redisUrl: REDIS_URL });
  const neon = await startNeonProxy({ host: hostname, port: Number(port) });
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  await bundleWorker(folder);
  const serve = await prepareWorkerd(join(folder, "main_worker.js"), folder, {
    bindings: {
      ...common,
      DATABASE_URL,
      DATABASE_HTTP_URL: neon.sqlEndpoint,
      UPSTASH_REDIS_REST_URL: bridge.url,
      UPSTASH_REDIS_REST_TOKEN: bridge.token,
      EVENTSTREAM_CACHE_DB: String(brokerDatabase),
    },
    durableObject: "StreamsObject",
    objectBinding: "STREAMS",
  });
  const server = await startProcess({
    command: [...serve, "--control-fd=1"],
    until: /"event":"listen","socket":"http","port":(\d+)/,
  });
  return {
    name: "workerd",
    host: "127.0.0.1",
    port: Number(server.match[1]),
    path: (channels) => (channels === 1 ? streamPath("000000000000") : streamPath()),
    headers: [`Authorization: Bearer ${await backends.sign(0)}`],
    process: server,
    publish: (options) => backends.publish(options),
    async stop() {
      await server.stop();
      await Promise.all([bridge.close(), neon.close(), rm(folder, { recursive: true, force: true })]);
    },
  };
}
