import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../../../gateway/config.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { silentLog } from "../../../gateway/observability/log.ts";
import { nodeHttp } from "../../../gateway/runtime/node_http.ts";
import { startGateway } from "../../../gateway/runtime/start_gateway.ts";
import { createStaticFiles } from "../../../gateway/runtime/static_files.ts";
import { watchDatabase } from "../../support/watched_database.ts";
import { createScan, openSharedDatabase, readStream, startTestGateway } from "../../support/test_gateway.ts";

let directory: string;
let shared: Awaited<ReturnType<typeof openSharedDatabase>>;
beforeAll(async () => {
  shared = await openSharedDatabase();
  directory = await mkdtemp(join(tmpdir(), "scanstream-"));
});
afterAll(async () => {
  await shared.close();
  await rm(directory, { recursive: true, force: true });
});

describe("stop", () => {
  test("closes open streams with a retry delay, and accepts no new connection", async () => {
    const gateway = await startTestGateway({}, { database: shared.database });
    const scan = await createScan(gateway, gateway.acme);
    const as = `Api-Key ${gateway.acme.apiKey}`;
    const streams = await Promise.all(Array.from({ length: 10 }, () => gateway.request(scan.event_stream, { as })));
    const texts = Promise.all(streams.map((stream) => readStream(stream, /^\u0000/)));
    const stopped = gateway.gateway.stop({ drainMs: 400 });
    for (const text of await texts) expect(text).toMatch(/retry: (?:[1-5]\d{3})\n: close drain\n $/);
    await stopped;
    await expect(gateway.request("/healthz")).rejects.toThrow(TypeError);
    await gateway.stop();
  });

  test("cuts off a client that sends half a request", async () => {
    const gateway = await startTestGateway({}, { database: shared.database });
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    const closed = once(socket, "close");
    socket.on("error", () => {});
    const head = `POST /api/v1/scans HTTP/1.1\r\nhost: x\r\nauthorization: Api-Key ${gateway.acme.apiKey}\r\n`;
    socket.write(`${head}content-length: 9\r\n\r\n{`);
    await gateway.request("/healthz");
    await gateway.gateway.stop({ drainMs: 0 });
    await closed;
    await gateway.stop();
  });
});

describe("startup failures are one clear error", () => {
  const start = async (environment: Record<string, string>) =>
    startGateway({
      http: nodeHttp,
      config: parseConfig({ PORT: "0", ...environment }),
      directory,
      log: silentLog,
      database: shared.database,
    });

  test("a port that is taken", async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    const { port } = other.address() as AddressInfo;
    for (const environment of [{ PORT: String(port) }, { METRICS_PORT: String(port) }]) {
      const refused = start(environment);
      await expect(refused).rejects.toThrow(UsageError);
      await expect(refused).rejects.toThrow(/PORT: expected a free port: another program listens on it already/);
    }
    other.close();
  });

  test("keys that cannot be imported", async () => {
    const jwks = JSON.stringify({ keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y" }] });
    const refused = start({ AUTH_JWKS: jwks, AUTH_ISSUER: "https://x.test", AUTH_AUDIENCE: "x" });
    await expect(refused).rejects.toThrow(/AUTH_JWKS: expected a key that can be imported/);
  });
});

test("no secret reaches the log, whatever is sent and whatever goes wrong", async () => {
  const { database } = shared;
  let isBroken = false;
  const gateway = await startTestGateway(
    { STREAM_TOKEN_SECRET: "stream-token-secret-of-32-bytes-!" },
    {
      database: watchDatabase(database, (run) =>
        isBroken
          ? Promise.reject(new Error(`Broken at postgres://u:hunter2@h/d?access_token=${gateway.acme.token}`))
          : run(),
      ),
    },
  );
  const scan = await createScan(gateway, gateway.acme, { client_id: "client-id-in-a-body" });
  const key = `Api-Key ${gateway.acme.apiKey}`;
  const issued = await gateway.request("/api/v1/stream-tokens", { as: key, json: { scan_id: scan.id } });
  const { access_token: streamToken } = (await issued.json()) as { access_token: string };
  const paths = [
    "/api/v1/scans",
    "/nothing",
    scan.event_stream,
    `/api/v1/scans/${gateway.acme.apiKey}`,
    `/api/v1/channels/${gateway.acme.token}/events`,
    "/readyz",
    "/",
  ];
  const answers: string[] = [];
  for (const broken of [false, true]) {
    isBroken = broken;
    for (const path of paths) {
      for (const query of [
        "",
        `?access_token=${streamToken}`,
        `?access_token=${gateway.acme.token}&x=${gateway.acme.apiKey}`,
      ]) {
        for (const as of [
          undefined,
          key,
          `Bearer ${gateway.acme.token}`,
          `Bearer ${streamToken}`,
          `Basic ${gateway.acme.apiKey}`,
        ]) {
          const abort = new AbortController();
          const response = await fetch(new URL(path + query, gateway.url), {
            ...(as === undefined ? {} : { headers: { authorization: as } }),
            signal: abort.signal,
          });
          if (response.status >= 400) answers.push(await response.text());
          abort.abort();
        }
      }
    }
  }
  isBroken = false;
  const log = gateway.log.join("");
  expect(answers.some((answer) => answer.includes('"code":"internal"'))).toBe(true);
  expect(log).toContain("a request failed");
  for (const secret of [
    gateway.acme.apiKey,
    gateway.acme.apiKey.slice(13),
    gateway.acme.token,
    streamToken,
    "hunter2",
    "access_token=e",
    "stream-token-secret",
    "client-id-in-a-body",
  ]) {
    expect(log).not.toContain(secret);
    for (const answer of answers) expect(answer).not.toContain(secret);
  }
  await gateway.stop();
});

test("a load balancer that asks in HTTP/1.0, without a Host header, is answered", async () => {
  const gateway = await startTestGateway({ METRICS_PORT: "0" }, { database: shared.database });
  for (const url of [`${gateway.url}/healthz`, gateway.gateway.metricsUrl ?? ""]) {
    const { port, pathname } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`GET ${pathname} HTTP/1.0\r\n\r\n`);
    expect((await socket.setEncoding("utf8").toArray()).join("")).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  }
  await gateway.stop();
});

test("static files never lead out of their folder", async () => {
  const files = createStaticFiles(join(import.meta.dirname, "../../.."));
  expect(await files.read("package.json")).toBeInstanceOf(Uint8Array);
  for (const path of [
    "../package.json",
    "/etc/passwd",
    "test/../package.json",
    ".oxlintrc.json",
    "test",
    "none.json",
    "LICENSE",
    "a\\..\\b.json",
    "package.json\0.js",
    "",
  ]) {
    expect(await files.read(path)).toBeNull();
  }
});
