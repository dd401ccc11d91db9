import { expect, test } from "vitest";
import { openWorkerParts } from "../../../../gateway/runtime/worker/worker_parts.ts";

const environment = {
  STREAMS: { idFromName: () => ({}), get: () => ({ fetch: unreachable }) },
  ASSETS: { fetch: unreachable },
  DATABASE_URL: "postgres://app:hunter2@db.neon.test/main",
  UPSTASH_REDIS_REST_URL: "https://db.upstash.test",
  UPSTASH_REDIS_REST_TOKEN: "token",
  STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
};

function unreachable(): Promise<Response> {
  throw new Error("A binding was used");
}

test("a caller's share is that of the address that Cloudflare names, and of no header of the caller's own", async () => {
  const { holderOf } = await openWorkerParts(environment);
  const from = (headers: Readonly<Record<string, string>>) =>
    holderOf(new Request("https://gateway.test/", { headers }), undefined);
  const first = from({ "cf-connecting-ip": "203.0.113.7" });
  expect(from({ "cf-connecting-ip": "203.0.113.7", "x-forwarded-for": "198.51.100.1", authorization: "x" })).toBe(
    first,
  );
  expect(from({ "cf-connecting-ip": "203.0.113.8" })).not.toBe(first);
  // A host has a whole /64 to choose from.
  const network = from({ "cf-connecting-ip": "2001:db8:1:2::1" });
  expect(from({ "cf-connecting-ip": "2001:db8:1:2:ffff::2" })).toBe(network);
  expect(from({ "cf-connecting-ip": "2001:db8:1:3::1" })).not.toBe(network);
});
