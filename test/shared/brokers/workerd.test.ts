import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../conformance/broker_harness.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp_proxy.ts";
import { startUpstashBridge, type UpstashBridge } from "../../support/upstash_bridge.ts";

let redis: RedisServer;
let bridge: UpstashBridge;
let network: TcpProxy;
let worker: Awaited<ReturnType<typeof startWorkerd>>;

beforeAll(async () => {
  redis = await startRedis();
  bridge = await startUpstashBridge({ redisUrl: redis.url });
  network = await startTcpProxy(bridge);
  worker = await startWorkerd({ URL: `http://127.0.0.1:${network.port}`, TOKEN: bridge.token });
});

afterAll(async () => {
  await worker.close();
  await network.close();
  await bridge.close();
  await redis.stop();
});

/** The Worker of `upstash_worker.ts` in the runtime of Cloudflare Workers, on a port of its own. */
async function startWorkerd(bindings: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), "scanstream-workerd-"));
  await build({
    entryPoints: [fileURLToPath(new URL("../../support/upstash_worker.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker"],
    outfile: join(directory, "worker.js"),
    logLevel: "error",
  });
  const texts = Object.entries(bindings).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  writeFileSync(
    join(directory, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01",
  compatibilityFlags = ["enable_request_signal"],
  bindings = [${texts.join(", ")}, (name = "HUB", durableObjectNamespace = "Hub")],
  durableObjectNamespaces = [(className = "Hub", uniqueKey = "hub")],
  durableObjectStorage = (inMemory = void),
);
`,
  );
  const child = spawn(findWorkerd(), ["serve", "--control-fd=3", join(directory, "config.capnp")], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const control = createInterface({ input: child.stdio[3] as Readable });
  const [line] = await once(control, "line");
  const { port } = JSON.parse(String(line)) as { readonly port: number };
  return {
    async ask(path: string): Promise<unknown> {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return response.ok && response.headers.get("content-type") === "application/json"
        ? response.json()
        : `${response.status} ${await response.text()}`;
    },
    async close() {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The one that wrangler brings, so that the tests run on what is deployed with. */
function findWorkerd(): string {
  const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
  return createRequire(wrangler).resolve("workerd/bin/workerd");
}

test("createUpstashBroker on Workers receives over requests, pings, unsubscribes and reports every loss", async () => {
  const ask = (path: string) => worker.ask(path);
  await ask("/subscribe");
  await ask("/publish");
  expect(await ask("/publish-once")).toBe("200 published");
  await eventually(async () => bridge.commandCount("publish") > 4, "an idle subscription was pinged");
  expect(await ask("/received")).toEqual(["a", "b", "once"]);
  expect(bridge.streamCount).toBe(1);
  await ask("/leave");
  await bridge.untilStreamCount(0);

  const lost: string[] = [];
  for (const [reason, lose] of [
    ["ended", () => bridge.endStreams()],
    ["cut", () => network.cut()],
    ["silent", () => network.stall()],
  ] as const) {
    await ask("/subscribe");
    lose();
    lost.push(`lost ${reason}`);
    const expected = JSON.stringify(["a", "b", "once", ...lost]);
    await eventually(
      async () => JSON.stringify(await ask("/received")) === expected,
      `the loss (${reason}) was reported`,
    );
  }
  expect(await ask("/publish")).toMatch(/^503 Cannot publish: Upstash did not answer within 1 s/);
  expect(await ask("/subscribe")).toMatch(/^503 Cannot subscribe: Upstash did not answer within 1 s/);
  network.refuse();
  expect(await ask("/publish")).toMatch(/^503 Cannot publish: Upstash cannot be reached/);
  network.restore();
  await ask("/subscribe");
  await ask("/publish");
  const receivedAgain = JSON.stringify(["a", "b", "once", ...lost, "a", "b"]);
  await eventually(
    async () => JSON.stringify(await ask("/received")) === receivedAgain,
    "received again after the losses",
  );
});
