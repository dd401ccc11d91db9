import { expect, test } from "vitest";
import type { Principal } from "../../../../gateway/auth/principal.ts";
import { handOverHeader, parseHandOver, toObjectRequest } from "../../../../gateway/runtime/worker/hand_over.ts";
import { objectName } from "../../../../gateway/runtime/worker/object_streams.ts";

const tenantId = "11111111-1111-4111-8111-111111111111";
const channel = `scan:${tenantId}:22222222-2222-4222-8222-222222222222`;
const principal: Principal = {
  kind: "user",
  tenantId,
  id: "käse\n日本\u{1f9c0}",
  expiresAtMs: 1_800_000_000_000,
  onlyStream: null,
};

function streamOf(request: Request) {
  return { request, principal, channels: [channel] };
}

test("the decision arrives unchanged, without anything else of the client's request", () => {
  const client = new Request(`https://gateway.test/api/v1/scans/x/event-stream?access_token=secret`, {
    headers: { authorization: "Bearer secret", cookie: "secret", [handOverHeader]: "forged" },
  });
  const handed = toObjectRequest(streamOf(client));
  expect(parseHandOver(handed)).toEqual({
    principal,
    channels: [channel],
    snapshotOf: null,
  });
  expect([...handed.headers.keys()]).toEqual([handOverHeader]);
  expect(handed.url + [...handed.headers.values()].join()).not.toMatch(/secret|forged/);
});

test("the stream whose snapshot is asked for is handed over by its name", () => {
  const snapshot = { streamName: "/api/v1/event-stream", read: () => Promise.reject(new Error("not here")) };
  const handed = toObjectRequest({ ...streamOf(new Request("https://gateway.test/")), snapshot });
  expect(parseHandOver(handed).snapshotOf).toBe("/api/v1/event-stream");
});

test("the object's request aborts when the client disconnects", () => {
  const leaving = new AbortController();
  const handed = toObjectRequest(streamOf(new Request("https://gateway.test/", { signal: leaving.signal })));
  expect(handed.signal.aborted).toBe(false);
  leaving.abort();
  expect(handed.signal.aborted).toBe(true);
});

test.each([
  ["nothing", null],
  ["no JSON", "x"],
  ["no principal", JSON.stringify({ channels: [channel], snapshotOf: null })],
  ["no channel", JSON.stringify({ principal, channels: [], snapshotOf: null })],
  [
    "another tenant's channel",
    JSON.stringify({
      principal,
      channels: [channel.replaceAll("1", "3")],
      snapshotOf: null,
    }),
  ],
  [
    "another kind",
    JSON.stringify({
      principal: { ...principal, kind: "root" },
      channels: [channel],
      snapshotOf: null,
    }),
  ],
  ["no word of a snapshot", JSON.stringify({ principal, channels: [channel] })],
])("parseHandOver rejects a request with %s", (_what, decided) => {
  const headers = decided === null ? undefined : { [handOverHeader]: encodeURIComponent(decided) };
  expect(() => parseHandOver(new Request("https://streams.internal/", { ...(headers && { headers }) }))).toThrow();
});

test("streams of one channel share an object, and a tenant has at most as many objects as shards", () => {
  expect(objectName({ principal, channels: [channel] }, 1)).toBe(tenantId);
  const names = Array.from({ length: 200 }, (_, n) =>
    objectName({ principal, channels: [`scan:${tenantId}:${n}`] }, 4),
  );
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(new RegExp(`^${tenantId}:[0-3]/4$`));
  expect(objectName({ principal, channels: ["b", "a"] }, 4)).toBe(objectName({ principal, channels: ["a", "b"] }, 4));
});
