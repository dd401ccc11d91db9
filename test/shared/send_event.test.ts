import { describe, expect, test } from "vitest";
import { encodeEvent, EventError, maxPayloadBytes, parseMessage, toMessage } from "../../shared/event.ts";
import type { Publisher } from "../../shared/send_event.ts";
import { recordEvents } from "../../gateway/library/record_events.ts";

const tenant = "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11";
const channel = `scan:${tenant}:1`;

/** Calls as JavaScript may, in spite of the types. */
const untyped = ({ sendEvent }: Publisher) => sendEvent as unknown as (...args: unknown[]) => Promise<void>;

describe("sendEvent", () => {
  // `use_cases.ts` has those that travel as JSON.
  test.each(["", "scan.", ".end", "1scan.end", "scan end", 7, { toString: () => "scan.end" }])(
    "refuses the event type %j",
    async (type) => {
      const publisher = recordEvents();
      await expect(untyped(publisher)(channel, type, { scan_id: tenant })).rejects.toThrow(TypeError);
      expect(publisher.events).toEqual([]);
    },
  );

  test.each([
    ["an object in an array", { a: [{}] }],
    ["NaN", { a: Number.NaN }],
    ["infinity", { a: Number.POSITIVE_INFINITY }],
    ["undefined", { a: undefined }],
    ["a date", { a: new Date(0) }],
    ["no payload", undefined],
    ["an object that chooses its own JSON", { toJSON: () => "x" }],
  ])("refuses %s", async (_, payload) => {
    const publisher = recordEvents();
    await expect(untyped(publisher)(channel, "scan.progress", payload)).rejects.toThrow(TypeError);
    expect(publisher.events).toEqual([]);
  });
});

const frameBytes = JSON.stringify({ text: "" }).length;

test.each([
  ["ASCII", "a", 1],
  ["two-byte text", "é", 2],
  ["three-byte text", "€", 3],
  ["text outside the basic plane", "😀", 4],
])("a payload is limited in UTF-8 bytes of %s, the limit included", (_, character, bytes) => {
  const count = Math.floor((maxPayloadBytes - frameBytes) / bytes);
  const padding = "a".repeat(maxPayloadBytes - frameBytes - count * bytes);
  const text = character.repeat(count) + padding;
  const atTheLimit = encodeEvent("scan.progress", { text });
  expect(new TextEncoder().encode(atTheLimit.data).byteLength).toBe(maxPayloadBytes);
  expect(parseMessage(toMessage(atTheLimit))).toEqual([atTheLimit]);
  const overTheLimit = () => encodeEvent("scan.progress", { text: `${text}a` });
  expect(overTheLimit).toThrow(EventError);
  expect(overTheLimit).toThrow(/larger than 65536 bytes/);
});

test.each([
  "",
  "{}",
  "garbage",
  `{"type":"scan.explode","data":{}}`,
  `{"type":"scan.progress","data":{"a":{"b":1}}}`,
  `{"type":"scan.progress\\nid: 1","data":{}}`,
  `{"type":"scan.end","data":{}}`,
  `{"type":"scan.progress","data":{}`,
  `[{"type":"scan.progress","data":{}},{}]`,
  `{"type":"scan.progress","data":{"text":"${"a".repeat(maxPayloadBytes)}"}}`,
  "x".repeat(2_000_000),
])("parseMessage gives null for %.60j", (text) => {
  expect(parseMessage(text)).toBeNull();
});
