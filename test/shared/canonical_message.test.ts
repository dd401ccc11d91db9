import { assert, property } from "fast-check";
import { expect, test } from "vitest";
import { readCanonicalMessage } from "../../shared/canonical_message.ts";
import { encodeEvent, isEventType, parseMessage, toMessage } from "../../shared/event.ts";
import { fuzzed } from "../fuzz/fuzzed.ts";
import { messageText } from "../fuzz/wire_values.ts";

const message = (data: string, rest = "") => `{"type":"scan.progress","data":${data}${rest}}`;

test.each([
  ['{"scan_id":"0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11","checks_done":12,"share":0.25}'],
  ['{"a":-1,"b":true,"c":false,"d":null,"e":""}'],
  ['{"list":["x",1,null],"none":[]}'],
  ['{"name":"Grüße, 東京 – a {brace}, a [bracket]: \\u2028"}'.replace(String.raw`\u2028`, "\u2028")],
])("takes what our publishers write as it is: %s", (data) => {
  expect(readCanonicalMessage(message(data))).toEqual({ type: "scan.progress", data });
  expect(readCanonicalMessage(message(data, ',"delivery_id":"p-1.7"'))).toEqual({
    type: "scan.progress",
    data,
    deliveryId: "p-1.7",
  });
  expect(parseMessage(message(data))).toEqual(encodeEvent("scan.progress", JSON.parse(data)));
});

test.each([
  ["a name twice", message('{"a":1,"a":2}')],
  ["a name twice, not side by side", message('{"a":1,"b":2,"a":3}')],
  ["an object in the payload", message('{"a":{"b":1}}')],
  ["a list in a list", message('{"a":[[1]]}')],
  ["a payload twice", message('{"a":1},"data":{"a":1}')],
  ["another field", message('{"a":1}', ',"id":"7"')],
  ["another field before the payload", '{"type":"scan.progress","id":7,"data":{"a":1}}'],
  ["a delivery id of another form", message('{"a":1}', ',"delivery_id":"p-1"')],
  ["white space", message('{"a": 1}')],
  ["a line break behind it", `${message('{"a":1}')}\n`],
  ["a line break in a string", message('{"a":"x\ny"}')],
  ["a carriage return in a name", message('{"a\r":1}')],
  ["a NUL in a string", message('{"a":"\0"}')],
  ["half a character", message('{"a":"\ud800"}')],
  ["an escaped quote", message('{"a":"\\"}')],
  ["a number that begins with 0", message('{"a":01}')],
  ["a number that is none", message('{"a":1e999}')],
  ["no value", message('{"a":}')],
  ["a comma at the end", message('{"a":1,}')],
  ["a comma at the end of a list", message('{"a":[1,]}')],
  ["a bracket that is not closed", message('{"a":[1}')],
  ["a brace that is not closed", '{"type":"scan.progress","data":{"a":1}'],
  ["a type with a line break", '{"type":"scan.delta\n","data":{"a":1}}'],
  ["more than 64 fields", message(`{${Array.from({ length: 65 }, (_, index) => `"f${index}":1`).join(",")}}`)],
  ["text before it", ` ${message('{"a":1}')}`],
])("does not take %s", (_what, text) => {
  expect(readCanonicalMessage(text)).toBeNull();
});

test("what it takes is one line, flat, without a name twice, and what JSON says it is", () => {
  assert(
    property(messageText, (text) => {
      const taken = readCanonicalMessage(text);
      if (taken === null) return;
      const { type, data, delivery_id: deliveryId } = JSON.parse(text) as Record<string, unknown>;
      expect(taken.type).toBe(type);
      expect(taken.deliveryId).toBe(deliveryId);
      expect(JSON.parse(taken.data)).toEqual(data);
      expect(taken.data).not.toMatch(/[\r\n\0]/);
      // There are no quotes in its strings.
      expect(taken.data.match(/"[^"]*":/g)).toHaveLength(Object.keys(data as object).length);
      if (isEventType(type)) expect(() => encodeEvent(type, data)).not.toThrow();
    }),
    fuzzed(3000),
  );
});

test("most of what our publishers write is taken", () => {
  const written = toMessage(encodeEvent("scan.progress", { scan_id: "x", n: 1, at: "2026-01-01T00:00:00.000Z" }));
  expect(readCanonicalMessage(written)).not.toBeNull();
});

test("what it does not take is parsed, such as 65 fields", () => {
  const payload = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`f${index}`, 1]));
  expect(parseMessage(message(JSON.stringify(payload)))).toEqual(encodeEvent("scan.progress", payload));
});

test("a verb that is none, and a terminal event without its resource, are refused although they are written well", () => {
  expect(parseMessage('{"type":"scan.exploded","data":{"a":1}}')).toBeNull();
  expect(parseMessage('{"type":"scan.end","data":{"a":1}}')).toBeNull();
});
