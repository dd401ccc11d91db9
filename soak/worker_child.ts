import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleWorker } from "../test/support/bundle_worker.ts";
import { startNeonProxy } from "../test/support/neon_proxy.ts";
import { startUpstashBridge } from "../test/support/upstash_bridge.ts";
import { startWorkerd } from "../test/support/workerd.ts";
import type { WorkerListens } from "./worker_process.ts";

// Ctrl+C reaches every process of the terminal: whoever started this one ends it.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
const { REDIS_URL = "", DATABASE_URL = "", PATH: _path, ...common } = process.env as Record<string, string>;
await using opened = new AsyncDisposableStack();
const { hostname, port } = new URL(DATABASE_URL);
const bridge = await startUpstashBridge({ redisUrl: REDIS_URL });
opened.defer(() => bridge.close());
const neon = await startNeonProxy({ host: hostname, port: Number(port) });
opened.defer(() => neon.close());
const folder = await mkdtemp(join(tmpdir(), "scanstream-worker-"));
opened.defer(() => rm(folder, { recursive: true, force: true }));
await bundleWorker(folder);
const worker = await startWorkerd(join(folder, "main_worker.js"), {
  bindings: {
    ...common,
    DATABASE_URL,
    DATABASE_HTTP_URL: neon.sqlEndpoint,
    UPSTASH_REDIS_REST_URL: bridge.url,
    UPSTASH_REDIS_REST_TOKEN: bridge.token,
    EVENTSTREAM_CACHE_DB: "2",
  },
  durableObject: "StreamsObject",
  objectBinding: "STREAMS",
});
opened.defer(() => worker.close());
process.send?.({ url: worker.url, pid: worker.pid } satisfies WorkerListens);
await once(process, "disconnect");
await opened.disposeAsync();
process.exit();
