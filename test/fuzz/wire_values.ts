import {
  array,
  boolean,
  constant,
  constantFrom,
  dictionary,
  double,
  integer,
  json,
  nat,
  oneof,
  tuple,
  type Arbitrary,
} from "fast-check";
import { anyText } from "../support/any_text.ts";
import { encodeEvent, toMessage, type EventPayload } from "../../shared/event.ts";
import { verbs } from "../../shared/verbs.ts";

/** Values as they come over the wires, good and bad. */

export const uuid = "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11";

const scalar = oneof(
  anyText(),
  constantFrom("\r\n", "\n\ndata: x", "\0", "\u2028", "\ud800", "é", "𝄞"),
  integer(),
  double({ noNaN: true, noDefaultInfinity: true }),
  boolean(),
  constant(null),
);

/** Any payload that may travel; a terminal event's id is always there. */
export const flatPayload: Arbitrary<EventPayload> = dictionary(
  anyText({ maxLength: 20 }),
  oneof(scalar, array(scalar, { maxLength: 5 })),
  { maxKeys: 6, noNullPrototype: true },
).map((fields) => ({ ...fields, job_id: uuid, j_id: uuid }));

export const eventType = tuple(constantFrom("job", "j"), constantFrom(...verbs)).map((parts) => parts.join("."));

/** Text with some of it changed, cut out or put in. */
export function mutated(text: Arbitrary<string>): Arbitrary<string> {
  const piece = oneof(anyText({ maxLength: 4 }), constantFrom('"', "{", "}", "\\", "\n", "\r", "\0", ","));
  return tuple(text, array(tuple(nat(), nat(4), piece), { minLength: 1, maxLength: 3 })).map(([whole, edits]) =>
    edits.reduce((current, [at, length, put]) => {
      const from = at % (current.length + 1);
      return current.slice(0, from) + put + current.slice(from + length);
    }, whole),
  );
}

const goodMessage = tuple(eventType, flatPayload).map(([type, payload]) => toMessage(encodeEvent(type, payload)));
const almostMessage = tuple(eventType, json()).map(([type, data]) => `{"type":${JSON.stringify(type)},"data":${data}}`);

/** What a broker may hand over: ours, almost ours, garbage. */
export const messageText = oneof(goodMessage, mutated(goodMessage), almostMessage, json(), anyText());
