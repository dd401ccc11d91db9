import { expect, test } from "vitest";
import { UsageError } from "../../../../shared/usage_error.ts";
import { parseWorkerConfig } from "../../../../gateway/runtime/worker/worker_config.ts";

const whole = {
  DATABASE_URL: "postgres://app:hunter2@db.neon.test/main",
  UPSTASH_REDIS_REST_URL: "https://db.upstash.test",
  UPSTASH_REDIS_REST_TOKEN: "token",
  STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
};

function problemsOf(environment: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    parseWorkerConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
}

test("DATABASE_HTTP_URL may be plain http:// only for loopback", () => {
  for (const url of [
    "https://proxy.test/sql",
    "http://127.0.0.1:4444/sql",
    "http://localhost/sql",
    "http://[::1]/sql",
  ]) {
    expect(parseWorkerConfig({ ...whole, DATABASE_HTTP_URL: url }).databaseHttpUrl).toBe(url);
  }
  for (const url of ["http://proxy.test/sql", "http://127.0.0.1.evil.test/sql", "ftp://127.0.0.1/", "proxy"]) {
    expect(problemsOf({ ...whole, DATABASE_HTTP_URL: url })).toEqual([expect.stringMatching(/^DATABASE_HTTP_URL: /)]);
  }
});
