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

/** Upstash's REST and Neon's HTTP, in this process, before the Redis and the PostgreSQL of the other benches. */
export interface WorkerBackends {
  /** The variables of the Worker. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startWorkerBackends({ environment }: Backends): Promise<WorkerBackends> {
  const { REDIS_URL = "", DATABASE_URL = "", ...common } = environment;
  const { hostname, port } = new URL(DATABASE_URL);
  const bridge = await startUpstashBridge({ redisUrl: REDIS_URL });
  const neon = await startNeonProxy({ host: hostname, port: Number(port) });
  return {
    environment: {
      ...common,
      DATABASE_URL,
      DATABASE_HTTP_URL: neon.sqlEndpoint,
      UPSTASH_REDIS_REST_URL: bridge.url,
      UPSTASH_REDIS_REST_TOKEN: bridge.token,
      EVENTSTREAM_CACHE_DB: String(brokerDatabase),
    },
    async stop() {
      await bridge.close();
      await neon.close();
    },
  };
}

/** The Worker as it is deployed with its Durable Object, in workerd itself: its socket is the one that the clients connect to. */
export async function startWorkerdServer(backends: Backends, { environment }: WorkerBackends): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  await bundleWorker(folder);
  const serve = await prepareWorkerd(join(folder, "main_worker.js"), folder, {
    bindings: environment,
    durableObject: "StreamsObject",
    objectBinding: "STREAMS",
  });
  const server = await startProcess({
    command: [...serve, "--control-fd=1"],
    until: /"event":"listen","socket":"http","port":(\d+)/,
  });
  return {
    ...(await toServer("workerd", Number(server.match[1]), backends)),
    process: server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function toServer(name: string, port: number, backends: Backends) {
  return {
    name,
    host: "127.0.0.1",
    port,
    path: (channels: number) => (channels === 1 ? streamPath("000000000000") : streamPath()),
    headers: [`Authorization: Bearer ${await backends.sign(0)}`],
    publish: (options: Parameters<BenchServer["publish"]>[0]) => backends.publish(options),
  };
}
