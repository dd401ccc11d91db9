import { expect, test } from "vitest";
import type { Principal } from "../../../../gateway/auth/principal.ts";
import { handOverHeader, parseHandOver, toObjectRequest } from "../../../../gateway/runtime/worker/hand_over.ts";
import { eventStreamsOf } from "../../../../gateway/features/features.ts";
import { scans } from "../../../../gateway/features/runs/scans.ts";
import { findEventStream, type RequestedOpening } from "../../../../gateway/streaming/event_stream.ts";
import { objectName } from "../../../../gateway/runtime/worker/object_streams.ts";

const tenantId = "11111111-1111-4111-8111-111111111111";
const streamName = "/api/v1/scans/22222222-2222-4222-8222-222222222222/event-stream";
const principal: Principal = {
  kind: "user",
  tenantId,
  id: "käse\n日本\u{1f9c0}",
  expiresAtMs: 1_800_000_000_000,
  onlyStream: null,
};

function openingOf(request: Request): RequestedOpening {
  const stream = findEventStream(eventStreamsOf([scans]), new URL(streamName, request.url));
  if (stream === null) throw new Error("There is no such stream");
  return { stream, principal, hasSnapshot: true, request };
}

test("caller and stream arrive unchanged, without anything else of the client's request", () => {
  const client = new Request(`https://gateway.test${streamName}?access_token=secret`, {
    headers: { authorization: "Bearer secret", cookie: "secret", [handOverHeader]: "forged" },
  });
  const handed = toObjectRequest(openingOf(client));
  expect(parseHandOver(handed)).toEqual({ principal, streamName, hasSnapshot: true });
  expect([...handed.headers.keys()]).toEqual([handOverHeader]);
  expect(handed.url + [...handed.headers.values()].join()).not.toMatch(/secret|forged/);
});

test("the object's request aborts when the client disconnects", () => {
  const leaving = new AbortController();
  const handed = toObjectRequest(openingOf(new Request("https://gateway.test/", { signal: leaving.signal })));
  expect(handed.signal.aborted).toBe(false);
  leaving.abort();
  expect(handed.signal.aborted).toBe(true);
});

test.each([
  ["nothing", null],
  ["no JSON", "x"],
  ["no principal", JSON.stringify({ streamName, hasSnapshot: false })],
  ["no stream", JSON.stringify({ principal, hasSnapshot: false })],
  ["another kind", JSON.stringify({ principal: { ...principal, kind: "root" }, streamName, hasSnapshot: false })],
  ["no word of a snapshot", JSON.stringify({ principal, streamName })],
])("parseHandOver rejects a request with %s", (_what, decided) => {
  const headers = decided === null ? undefined : { [handOverHeader]: encodeURIComponent(decided) };
  expect(() => parseHandOver(new Request("https://streams.internal/", { ...(headers && { headers }) }))).toThrow();
});

test("streams of one name share an object, and a tenant has at most as many objects as shards", () => {
  expect(objectName(tenantId, streamName, 1)).toBe(tenantId);
  const names = Array.from({ length: 200 }, (_, n) => objectName(tenantId, `/api/v1/scans/${n}/event-stream`, 4));
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(new RegExp(`^${tenantId}:[0-3]/4$`));
  expect(objectName(tenantId, streamName, 4)).toBe(objectName(tenantId, streamName, 4));
});
