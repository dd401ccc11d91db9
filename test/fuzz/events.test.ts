import { array, assert, asyncProperty, constantFrom, dictionary, jsonValue, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../support/any_text.ts";
import { Hub } from "../../gateway/streaming/hub.ts";
import {
  encodeEvent,
  EventError,
  isEventType,
  maxPayloadBytes,
  parseMessage,
  toMessage,
  type EventPayload,
} from "../../shared/event.ts";
import { encodeEventFrame } from "../../shared/event_stream_encoding.ts";
import { verbs } from "../../shared/verbs.ts";
import { createScriptedSubscriber } from "../support/scripted_subscriber.ts";
import { fuzzed } from "./fuzzed.ts";
import { eventType, flatPayload, messageText, uuid } from "./wire_values.ts";

const channel = `job:${uuid}:a`;

test("what was encoded is read back as it was, and is one frame of three lines", () => {
  assert(
    property(eventType, flatPayload, (type, payload) => {
      const event = encodeEvent(type, payload);
      expect(parseMessage(toMessage(event))).toEqual(event);
      expect(JSON.parse(event.data)).toEqual(JSON.parse(JSON.stringify(payload)));
      const frame = encodeEventFrame(event);
      // CR, LF and NUL are all that means something to a reader of event streams.
      expect(frame.split(/[\r\n\0]/)).toEqual([`event: ${type}`, `data: ${event.data}`, "", ""]);
    }),
    fuzzed(1000),
  );
});

test("whatever is published is encoded within every bound or refused as EventError", () => {
  const anyType = oneof(eventType, anyText(), jsonValue());
  const anyPayload = oneof(flatPayload, jsonValue(), dictionary(string(), jsonValue()));
  assert(
    property(anyType, anyPayload, (type, payload) => {
      try {
        const event = encodeEvent(type, payload);
        expect(isEventType(event.type)).toBe(true);
        expect(event.data).not.toMatch(/[\r\n\0]/);
        expect(Buffer.byteLength(event.data)).toBeLessThanOrEqual(maxPayloadBytes);
        for (const value of Object.values(JSON.parse(event.data) as object).flat()) {
          expect(value === null || typeof value !== "object").toBe(true);
        }
      } catch (error) {
        if (!(error instanceof EventError)) throw error;
        expect(error.message).toMatch(/^Cannot publish an event: /);
        expect(error.message).not.toMatch(/[\r\n\0]/);
      }
    }),
    fuzzed(1000),
  );
});

test("whatever a broker hands over is an event as strict as ours, or nothing", () => {
  assert(
    property(messageText, (text) => {
      const event = parseMessage(text);
      if (event === null) return;
      expect(parseMessage(toMessage(event))).toEqual(event);
      expect(event.data).not.toMatch(/[\r\n\0]/);
      const [, verb] = event.type.split(".");
      expect(verbs).toContain(verb);
    }),
    fuzzed(2000),
  );
});

test("the hub hands on whole frames or ends the channel's members, whatever arrives in whatever order", async () => {
  const valid = toMessage(encodeEvent("job.delta", { n: 1 }));
  await assert(
    asyncProperty(array(oneof(constantFrom(valid), messageText), { maxLength: 8 }), async (texts) => {
      const broker = createScriptedSubscriber({ confirms: "at once" });
      const hub = new Hub({ subscriber: broker, lingerMs: 0 });
      let received = "";
      let ends = 0;
      const lease = await hub.acquire([channel]);
      lease.attach({
        terminalTypes: [],
        deliver: ({ bytes }) => void (received += Buffer.from(bytes).toString()),
        end: () => void (ends += 1),
      });
      const firstBad = texts.findIndex((text) => parseMessage(text) === null);
      const due = firstBad === -1 ? texts : texts.slice(0, firstBad);
      const subscription = broker.newest(channel);
      for (const text of texts) subscription.message(text);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      expect(received).toBe(withoutLate(due).map(frameOf).join(""));
      expect(ends).toBe(firstBad === -1 ? 0 : 1);
      hub.close();
    }),
    fuzzed(200),
  );
});

/** Nothing but its deletion follows the terminal event of a resource that is not the channel's own. */
function withoutLate(texts: readonly string[]): readonly string[] {
  const ended = new Set<string>();
  return texts.filter((text) => {
    const { type = "", data = "{}" } = parseMessage(text) ?? {};
    const [resource = "", verb] = type.split(".");
    const id = (JSON.parse(data) as Record<string, unknown>)[`${resource}_id`];
    if (typeof id !== "string" || id === "a") return true;
    const isLate = ended.has(`${resource} ${id}`);
    if (verb === "end") ended.add(`${resource} ${id}`);
    return !isLate || verb === "deleted";
  });
}

function frameOf(text: string): string {
  const event = parseMessage(text);
  return event === null ? "" : encodeEventFrame(event);
}

test("a payload's keys never become anything but keys", () => {
  const keys = constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "type", "data");
  assert(
    property(keys, string(), (key, value) => {
      const payload = JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as EventPayload;
      const message = parseMessage(toMessage(encodeEvent("job.delta", payload)));
      expect(JSON.parse(message?.data ?? "")).toEqual(payload);
      expect(Object.keys(Object.prototype)).toEqual([]);
    }),
    fuzzed(100),
  );
});
