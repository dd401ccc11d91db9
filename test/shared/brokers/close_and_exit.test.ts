import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createChannel } from "../../broker_contract/broker_adapters.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import { createSelfSigned } from "../../support/self_signed.ts";
import { startUpstashBridge, type UpstashBridge } from "../../support/upstash_bridge.ts";

let redis: RedisServer;
let bridge: UpstashBridge;

beforeAll(async () => {
  redis = await startRedis();
  bridge = await startUpstashBridge({ redisUrl: redis.url });
});

afterAll(async () => {
  await bridge.close();
  await redis.stop();
});

/** The output of a process that uses the broker; rejects when it has to be ended by force. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const script = fileURLToPath(new URL("../../support/broker_child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  if (code !== 0) throw new Error(`The process did not end by itself (${code ?? signal}): ${output}`);
  return output;
}

const kinds: readonly (readonly [string, () => readonly string[]])[] = [
  ["memory", () => ["memory", "", "", createChannel()]],
  ["redis", () => ["redis", redis.url, "", createChannel()]],
  ["upstash", () => ["upstash", bridge.url, bridge.token, createChannel()]],
];

test.each(kinds)("a process that closes its %s broker ends by itself", async (_, args) => {
  expect(await run(args())).toBe("closed\n");
});

test("a process whose broker never answered exits by itself, without output", async () => {
  const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const output = await run([
    "redis",
    `redis://:hunter2@127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    "",
    "channel",
    "fail",
  ]);
  expect(output).toMatch(/^AppError: Cannot ping: Redis did not answer within 0.5 s/);
  expect(output).not.toContain("hunter2");
  expect(output).toMatch(/closed\n$/);
});

test("createRedisBroker speaks TLS to a server whose certificate the process trusts", async () => {
  const certificate = createSelfSigned({ names: ["localhost"] });
  const directory = mkdtempSync(join(tmpdir(), "scanstream-tls-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "cert.pem"), certificate.cert);
  const server = createTlsServer(certificate, (client) => {
    const upstream = connect(redis.port, redis.host);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = `rediss://localhost:${typeof address === "object" ? address?.port : ""}`;
  const trusting = { NODE_EXTRA_CA_CERTS: join(directory, "cert.pem") };
  expect(await run(["redis", url, "", createChannel()], trusting)).toBe("closed\n");
});
