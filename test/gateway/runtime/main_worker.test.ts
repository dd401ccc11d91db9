import { expect, test, vi } from "vitest";
import { neon } from "../../../gateway/library/neon.ts";
import { upstash } from "../../../gateway/library/upstash.ts";
import { silentLog, type Log } from "../../../gateway/observability/log.ts";
import worker, { StreamsObject } from "../../../gateway/runtime/main_worker.ts";
import { createWorker } from "../../../gateway/runtime/worker/create_worker.ts";
import { parseWorkerConfig } from "../../../gateway/runtime/worker/worker_config.ts";
import { problemOf } from "../../support/test_gateway.ts";

/** Nothing of a Worker is reached before its variables were checked. */
const bindings = {
  STREAMS: { idFromName: () => ({}), get: () => ({ fetch: unreachable }) },
  ASSETS: { fetch: unreachable },
};

function unreachable(): Promise<Response> {
  throw new Error("A binding was used");
}

function watchErrors(): readonly string[] {
  const lines: string[] = [];
  vi.spyOn(console, "error").mockImplementation((line: unknown) => void lines.push(String(line)));
  return lines;
}

test("wrong variables are one 500 that names them, in the response and in the log, without any value", async () => {
  const lines = watchErrors();
  const environment = { ...bindings, STREAM_TOKEN_SECRET: "too-short", EVENTSTREAM_MAX_STREAMS: "many" };
  const problem = await problemOf(await worker.fetch(new Request("https://gateway.test/"), environment));
  for (const said of [problem.detail, lines.join()]) {
    expect(said).toMatch(/DATABASE_URL: required/);
    expect(said).toMatch(/UPSTASH_REDIS_REST_TOKEN: required/);
    expect(said).toMatch(/STREAM_TOKEN_SECRET: expected/);
    expect(said).toMatch(/EVENTSTREAM_MAX_STREAMS: expected/);
    expect(said).not.toMatch(/too-short|many/);
  }
  expect(problem).toMatchObject({ status: 500, code: "internal" });
  expect(lines).toHaveLength(1);
});

const whole = {
  DATABASE_URL: "postgres://app:hunter2@db.neon.test/main",
  UPSTASH_REDIS_REST_URL: "https://db.upstash.test",
  UPSTASH_REDIS_REST_TOKEN: "token",
  STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
};

test("DATABASE_HTTP_URL may be plain http:// only for loopback", () => {
  for (const url of ["https://proxy.test/sql", "http://127.0.0.1:4444/sql", "http://localhost/sql", "http://[::1]/sql"])
    expect(parseWorkerConfig({ ...whole, DATABASE_HTTP_URL: url }).databaseHttpUrl).toBe(url);
  for (const url of ["http://proxy.test/sql", "http://127.0.0.1.evil.test/sql", "ftp://127.0.0.1/", "proxy"])
    expect(() => parseWorkerConfig({ ...whole, DATABASE_HTTP_URL: url })).toThrow(/DATABASE_HTTP_URL: expected/);
});

test("wrong options of a Worker of one's own are named in the same way", async () => {
  watchErrors();
  const own = createWorker(
    () => ({ features: [], broker: {}, streamTokenSecret: undefined, stream: {}, shardsPerTenant: 0 }) as never,
  );
  const { detail } = await problemOf(await own.worker.fetch(new Request("https://gateway.test/"), {}));
  expect(detail).toMatch(/Cannot call createWorker/);
  for (const option of ["database", "broker.open", "streamTokenSecret", "streams"]) {
    expect(detail).toContain(`${option}: is required`);
  }
  expect(detail).toContain('did you mean "streams"?');
  expect(detail).toContain("shardsPerTenant: expected >=1, found 0");
});

test("an object refuses a request that the Worker did not hand over", async () => {
  watchErrors();
  const object = new StreamsObject({}, bindings);
  const response = await object.fetch(new Request("https://streams.internal/"));
  expect(await problemOf(response)).toMatchObject({ status: 500, code: "internal" });
});

test("a request counts for the address that Cloudflare names, and for no header of the caller's own", async () => {
  const addresses: unknown[] = [];
  const log: Log = { ...silentLog, info: ({ address }) => void (address !== undefined && addresses.push(address)) };
  const { DATABASE_URL: url, UPSTASH_REDIS_REST_URL: restUrl, UPSTASH_REDIS_REST_TOKEN: token } = whole;
  const options = { database: neon({ url }), broker: upstash({ url: restUrl, token }), streams: bindings.STREAMS };
  const streamTokenSecret = whole.STREAM_TOKEN_SECRET;
  const { worker: own } = createWorker(() => ({ ...options, features: [], streamTokenSecret, log }));
  // A key in the place of a token: refused before the database is asked, and logged once a second for each address.
  const authorization = `Bearer scs_${"0".repeat(8)}_${"0".repeat(64)}`;
  const from = (headers: Readonly<Record<string, string>>) =>
    own.fetch(new Request("https://gateway.test/api/v1/session", { headers: { authorization, ...headers } }), whole);
  vi.useFakeTimers({ toFake: ["Date"] });
  await from({ "cf-connecting-ip": "203.0.113.7" });
  await from({ "cf-connecting-ip": "203.0.113.7", "x-forwarded-for": "198.51.100.1" });
  await from({ "cf-connecting-ip": "203.0.113.8" });
  // A host has a whole /64 to choose from.
  for (const host of ["2::1", "2:ffff::2", "3::1"]) await from({ "cf-connecting-ip": `2001:db8:1:${host}` });
  expect(addresses).toHaveLength(4);
  vi.useRealTimers();
});
