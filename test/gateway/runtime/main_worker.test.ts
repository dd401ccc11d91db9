import { expect, test, vi } from "vitest";
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
  expect(detail).toMatch(/shardsPerTenant: .*1/);
});

test("an object refuses a request that the Worker did not hand over", async () => {
  watchErrors();
  const object = new StreamsObject({}, bindings);
  const response = await object.fetch(new Request("https://streams.internal/"));
  expect(await problemOf(response)).toMatchObject({ status: 500, code: "internal" });
});
