import { isUuid, type ChannelName } from "./channel_name.ts";
import { isLongerThan } from "./text.ts";

/** The platform's vocabulary: the second half of every event type. A new verb is added here. */
export const verbs = [
  "created",
  "updated",
  "deleted",
  "start",
  "delta",
  "progress",
  "end",
  "error",
  "snapshot",
] as const;

export type Verb = (typeof verbs)[number];

/** `<resource>.<verb>`, lower case, dot-separated. */
export type EventType<Resource extends string = string> = `${Resource}.${Verb}`;

type Scalar = string | number | boolean | null;
export type PayloadValue = Scalar | readonly Scalar[];

/** A flat JSON object. */
export type EventPayload = Readonly<Record<string, PayloadValue>>;

/** Fields that the payload of this event type must carry: a terminal event names its resource. */
export type RequiredFields<Type extends string> = Type extends `${infer Resource}.end`
  ? { readonly [Key in `${Resource}_id`]: string }
  : unknown;

export interface CheckedEvent {
  readonly type: EventType;
  readonly payload: EventPayload;
}

/** An event as it travels: the payload is already one line of JSON. */
export interface EncodedEvent {
  readonly type: string;
  /** One line of JSON, at most `maxPayloadBytes` in UTF-8. */
  readonly data: string;
  /** `<producer>.<n>`, with n rising: set by a producer that may send an event again, so that it is passed on once. */
  readonly deliveryId?: string;
}

/** The bound on the UTF-8 length of an event's JSON payload, this number included. */
export const maxPayloadBytes = 65_536;

/** How many events a gateway takes at once. */
export const maxBatchEvents = 500;

/** Why an event was refused. `too_large` is separate because HTTP has a status for it. */
export class EventError extends TypeError {
  readonly code: "invalid" | "too_large";

  constructor(code: "invalid" | "too_large", message: string) {
    super(message);
    this.name = "EventError";
    this.code = code;
  }
}

/** Bounded, so that a message always fits what its readers accept. */
export const maxEventTypeLength = 200;

export const eventTypePattern = /* @__PURE__ */ new RegExp(`^[a-z][a-z0-9_]*\\.(?:${verbs.join("|")})$`);

/** True for a well-formed event type whose verb is in the vocabulary. */
export function isEventType(value: unknown): value is EventType {
  return typeof value === "string" && value.length <= maxEventTypeLength && eventTypePattern.test(value);
}

/** Returns the type of the event that ends a channel's streams: `model_token.end` for the prefix `model-token`. */
export function terminalTypeOf(prefix: string): string {
  return `${prefix.replaceAll("-", "_")}.end`;
}

/** False for a terminal event of the channel that names another resource than the channel: it must end nobody's stream. */
export function fitsChannel(channel: ChannelName, { type, data }: EncodedEvent): boolean {
  if (type !== terminalTypeOf(channel.prefix)) return true;
  const payload = JSON.parse(data) as EventPayload;
  return payload[`${type.slice(0, type.indexOf("."))}_id`] === channel.resourceId;
}

/** True for `*.end`: the last event of its resource. */
export function isTerminalEventType(type: string): boolean {
  return type.endsWith(".end");
}

/** Checks an event and encodes its payload. Throws `EventError` (a `TypeError`) that names what is wrong. */
export function encodeEvent(type: unknown, payload: unknown): EncodedEvent {
  if (!isEventType(type)) {
    const shown = typeof type === "string" ? JSON.stringify(type.slice(0, 80)) : typeof type;
    const expected = `<resource>.<verb> in lower case, of at most ${maxEventTypeLength} characters`;
    throw invalid(`event type ${shown} is not ${expected}, with a verb of ${verbs.join(", ")}`);
  }
  requireFlat(payload);
  const idField = `${type.slice(0, type.indexOf("."))}_id`;
  if (isTerminalEventType(type) && !isUuid(payload[idField])) {
    throw invalid(`a terminal event carries the lower-case UUID of its resource as ${JSON.stringify(idField)}`);
  }
  const data = JSON.stringify(payload);
  if (!isLongerThan(data, maxPayloadBytes)) return { type, data };
  throw new EventError("too_large", `Cannot publish an event: the payload is larger than ${maxPayloadBytes} bytes`);
}

/** As `encodeEvent`. Throws `EventError` also for the channel's own terminal event when it names another resource. */
export function encodeChannelEvent(channel: ChannelName, type: unknown, payload: unknown): EncodedEvent {
  const event = encodeEvent(type, payload);
  if (fitsChannel(channel, event)) return event;
  throw invalid(`${event.type} names another resource than its channel: expected ${channel.resourceId}`);
}

/** The text that travels over a broker: one line, no newline. */
export function toMessage(event: EncodedEvent): string {
  const message = `{"type":"${event.type}","data":${event.data}}`;
  return event.deliveryId === undefined ? message : withDeliveryId(message, event.deliveryId);
}

/** The same event, to be passed on once however often it is sent. Throws `EventError` for an id of another form. */
export function withDeliveryId(message: string, deliveryId: string): string {
  return `${message.slice(0, -1)},"delivery_id":"${requireDeliveryId(deliveryId)}"}`;
}

/** Throws `EventError`. */
export function requireDeliveryId(value: unknown): string {
  if (typeof value === "string" && deliveryIdPattern.test(value)) return value;
  throw invalid("the delivery_id is not <producer>.<number>");
}

export const deliveryIdPattern = /^[A-Za-z0-9_-]{1,64}\.\d{1,15}$/;

/** Text on its way to a channel of the broker. */
export interface Message {
  readonly channel: string;
  readonly message: string;
}

/** Joins neighbors of one channel to lists of 64 Ki characters: hundreds of events cost the broker and each gateway little more than one. */
export function joinMessages(messages: readonly Message[]): readonly Message[] {
  const joined: { readonly channel: string; readonly events: string[] }[] = [];
  let length = 0;
  for (const { channel, message } of messages) {
    length += message.length;
    const last = joined.at(-1);
    if (last?.channel === channel && length < 65_536) last.events.push(message);
    else {
      joined.push({ channel, events: [message] });
      length = message.length;
    }
  }
  return joined.map(({ channel, events }) => {
    return { channel, message: events.length === 1 ? events.join() : `[${events.join(",")}]` };
  });
}

/** The events of a broker's text, checked as strictly as at publishing; `null` for anything that is not an event or a list of them. */
export function parseMessage(text: string): readonly EncodedEvent[] | null {
  try {
    return [JSON.parse(text) as Readonly<Record<string, unknown>>].flat().map(({ type, data, delivery_id: id }) => {
      const event = encodeEvent(type, data);
      return id === undefined ? event : { ...event, deliveryId: requireDeliveryId(id) };
    });
  } catch {
    return null;
  }
}

function requireFlat(payload: unknown): asserts payload is EventPayload {
  if (typeof payload !== "object" || payload === null || !isPlainObject(payload)) {
    throw invalid("the payload is not a flat JSON object");
  }
  // Without the keys, which cost most of this and are needed for an error only.
  if (Object.values(payload).every(isPayloadValue)) return;
  const [key = "", value] = Object.entries(payload).find(([, found]) => !isPayloadValue(found)) ?? [];
  throw invalid(
    `payload field ${JSON.stringify(key.slice(0, 80))} (${typeof value}) is not flat: expected string, finite number, boolean, null, or an array of those`,
  );
}

function isPayloadValue(value: unknown): value is PayloadValue {
  return isScalar(value) || (Array.isArray(value) && value.every(isScalar));
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** Class instances are refused: what they become in JSON is theirs to decide, not the sender's. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return !("toJSON" in value && typeof value.toJSON === "function");
}

function invalid(what: string): EventError {
  return new EventError("invalid", `Cannot publish an event: ${what}`);
}
