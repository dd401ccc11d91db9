import { expect, test, vi } from "vitest";
import { neon } from "../../../../gateway/library/neon.ts";
import { upstash } from "../../../../gateway/library/upstash.ts";
import { silentLog, type Log } from "../../../../gateway/observability/log.ts";
import { createWorker } from "../../../../gateway/runtime/worker/create_worker.ts";
import type { WorkerOptions } from "../../../../gateway/runtime/worker/worker_options.ts";

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
  const addresses: unknown[] = [];
  const log: Log = { ...silentLog, info: ({ address }) => void (address !== undefined && addresses.push(address)) };
  const environment = {};
  const { worker } = createWorker(() => ({ ...options, log }));
  // A key in the place of a token: refused before the database is asked, and logged once a second for each address.
  const authorization = `Bearer scs_${"0".repeat(8)}_${"0".repeat(64)}`;
  const from = (headers: Readonly<Record<string, string>>) =>
    worker.fetch(
      new Request("https://gateway.test/api/v1/session", { headers: { authorization, ...headers } }),
      environment,
    );
  vi.useFakeTimers({ toFake: ["Date"] });
  await from({ "cf-connecting-ip": "203.0.113.7" });
  await from({ "cf-connecting-ip": "203.0.113.7", "x-forwarded-for": "198.51.100.1" });
  await from({ "cf-connecting-ip": "203.0.113.8" });
  // A host has a whole /64 to choose from.
  for (const host of ["2::1", "2:ffff::2", "3::1"]) await from({ "cf-connecting-ip": `2001:db8:1:${host}` });
  expect(addresses).toHaveLength(4);
  vi.useRealTimers();
});
