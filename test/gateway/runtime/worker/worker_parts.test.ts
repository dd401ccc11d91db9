import { expect, test } from "vitest";
import { neon } from "../../../../gateway/library/neon.ts";
import { upstash } from "../../../../gateway/library/upstash.ts";
import type { WorkerOptions } from "../../../../gateway/runtime/worker/worker_options.ts";
import { openWorkerParts } from "../../../../gateway/runtime/worker/worker_parts.ts";

const options: WorkerOptions = {
  features: [],
  streams: { idFromName: () => ({}), get: () => ({ fetch: unreachable }) },
  database: neon({ url: "postgres://app:hunter2@db.neon.test/main" }),
  broker: upstash({ url: "https://db.upstash.test", token: "token" }),
  streamTokenSecret: "0123456789abcdef0123456789abcdef",
};

function unreachable(): Promise<Response> {
  throw new Error("A binding was used");
}

test("a request counts for the address that Cloudflare names, and for no header of the caller's own", async () => {
  const { addressOf } = await openWorkerParts(options);
  const from = (headers: Readonly<Record<string, string>>) =>
    addressOf(new Request("https://gateway.test/", { headers }), undefined);
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
