import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPgDatabase } from "../../../drizzle/databases/pg.ts";
import { executeAdmin } from "../../../gateway/operator/operations.ts";
import { createLocalState } from "../../../gateway/operator/local_state.ts";
import { adminContext } from "../../../gateway/operator/call_admin.ts";
import { startCommand, type Running } from "../../support/command_line.ts";
import { createTestDatabase, type PostgresServer, type TestDatabase } from "../../support/postgres.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import { suitePostgres } from "../../support/suite_postgres.ts";
import { createIssuerKey } from "../../support/test_gateway.ts";

let postgres: PostgresServer;
let redis: RedisServer;
let database: TestDatabase;
let folder: string;
let apiKey: string;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([suitePostgres(), startRedis()]);
  database = await createTestDatabase(postgres.adminUrl);
  folder = await mkdtemp(join(tmpdir(), "scanstream-"));
  const { publicJwk } = await createIssuerKey();
  env = {
    PORT: "0",
    DATABASE_URL: database.ownerUrl,
    REDIS_URL: redis.url,
    STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
    AUTH_JWKS: JSON.stringify({ keys: [publicJwk] }),
    AUTH_ISSUER: "https://issuer.test",
    AUTH_AUDIENCE: "scanstream-test",
  };
  apiKey = await createKey();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database.drop();
  await Promise.all([postgres.stop(), redis.stop()]);
});

async function createKey(): Promise<string> {
  const pg = createPgDatabase(database.ownerUrl);
  const context = adminContext({ hasIssuer: true, tenantClaim: "tenant_id" }, createLocalState(folder), pg);
  const tenant = (await executeAdmin(context, "tenant.create", { name: "Acme" })) as { id: string };
  const key = await executeAdmin(context, "api-key.create", { tenant: tenant.id, name: "test" });
  await pg.close();
  return (key as { api_key: string }).api_key;
}

const startServe = (processes: string, environment: Readonly<Record<string, string>>): Running =>
  startCommand(["serve", "--processes", processes], { cwd: folder, env: environment });

/** The address, once both processes listen: it is written to another pipe than their lines. */
async function whenServing(served: Running): Promise<string> {
  const [, url = ""] = await served.until("stdout", /listens on (\S+)/);
  await served.until("stderr", /("listening"[^]*){2}/);
  return url;
}

function workerPids({ output, process: supervisor }: Running): readonly number[] {
  const pids = Array.from(output.stderr.matchAll(/"pid":(\d+).*"listening"/g), ([, pid]) => Number(pid));
  return [...new Set(pids)].filter((pid) => pid !== supervisor.pid);
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

async function openStream(url: string, path: string): Promise<Response> {
  // No keep-alive: each connection goes to the next process.
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Api-Key ${apiKey}`, connection: "close" },
  });
  expect(response.status).toBe(200);
  return response;
}

async function createScan(url: string): Promise<{ readonly event_stream: string; readonly channel: string }> {
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1/scans`, { method: "POST", headers, body: "{}" });
  return (await response.json()) as { event_stream: string; channel: string };
}

test("several processes serve one port, add up their metrics, are not ready together, and drain together", async () => {
  const served = startServe("2", { ...env, DRAIN_DELAY_SECONDS: "600" });
  const url = await whenServing(served);
  expect(workerPids(served)).toHaveLength(2);
  const { event_stream: path, channel } = await createScan(url);

  // One after another: of many at once a process that is quicker takes more.
  const streams: Response[] = [];
  while (streams.length < 4) streams.push(await openStream(url, new URL(path, url).pathname));
  // Whichever process answers the scrape.
  for (let scrape = 0; scrape < 3; scrape += 1) {
    expect(await metric(url, "scanstream_streams_open")).toBe(4);
    expect(await metric(url, "scanstream_broker_up")).toBe(1);
  }
  // Two upstream subscriptions of one channel: each process has its own.
  expect(await metric(url, "scanstream_channels_open")).toBe(2);

  const published = await fetch(`${url}/api/v1/channels/${channel}/events`, {
    method: "POST",
    headers: { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ type: "scan.error", data: { code: "test", detail: "one event" } }),
  });
  expect(published.status).toBe(202);
  const texts = Promise.all(streams.map((stream) => stream.text()));
  await expect.poll(() => metric(url, "scanstream_events_delivered_total")).toBe(4);

  served.process.kill("SIGTERM");
  await served.until("stderr", /("draining"[^]*){2}/);
  for (let asked = 0; asked < 4; asked += 1) {
    expect((await fetch(`${url}/readyz`, { headers: { connection: "close" } })).status).toBe(503);
  }
  const late = await openStream(url, path);
  served.process.kill("SIGTERM");
  expect(await late.text()).toContain(": close drain");
  for (const text of await texts) {
    expect(text).toContain('event: scan.error\ndata: {"code":"test","detail":"one event"}\n\n');
    expect(text).toContain(": close drain");
  }
  expect(await served.finished).toMatchObject({ code: 0, stdout: `The gateway listens on ${url}\n` });
});

test("a process that dies is replaced, the others go on, and none survives a killed supervisor", async () => {
  const served = startServe("2", env);
  const url = await whenServing(served);
  const [first = 0, second = 0] = workerPids(served);
  process.kill(first, "SIGKILL");
  await served.until("stderr", /"a process of the gateway died"/);
  await expect.poll(() => workerPids(served).length).toBe(3);
  expect(() => process.kill(second, 0)).not.toThrow();
  for (let request = 0; request < 4; request += 1) {
    expect((await fetch(`${url}/readyz`, { headers: { connection: "close" } })).status).toBe(200);
  }
  served.process.kill("SIGKILL");
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await expect.poll(() => workerPids(served).filter(isAlive), { timeout: 10_000 }).toEqual([]);
});

test("an embedded database or an in-process broker is refused, and the required variables are named", async () => {
  const { code, stdout, stderr } = await startServe("2", { PORT: "0" }).finished;
  expect(code).toBe(2);
  expect(stderr).toContain("DATABASE_URL: required with --processes 2");
  expect(stderr).toContain("REDIS_URL: required with --processes 2, or UPSTASH_REDIS_REST_URL");
  expect(stdout).toBe("");

  const { DATABASE_URL: _away, ...withoutDatabase } = env;
  const embedded = await startServe("2", withoutDatabase).finished;
  expect(embedded.code).toBe(2);
  expect(embedded.stderr).toContain("DATABASE_URL: required");
  expect(embedded.stderr).not.toContain("REDIS_URL");
});

test.each(["0", "257"])("--processes %j is a usage error", async (processes) => {
  const { code, stderr } = await startServe(processes, env).finished;
  expect(code).toBe(2);
  expect(stderr).toContain("Expected a whole number from 1 to 256.");
});
