/** Longer messages, and those of more fields, are rare, and are parsed: each name is compared with all before it. */
const maxChars = 8192;
const maxFields = 64;

const head = /^\{"type":"([a-z][a-z0-9_]*\.[a-z_]+)","data":\{/;
const tail = /\}$|,"delivery_id":"([A-Za-z0-9_-]{1,64}\.\d{1,15})"\}$/y;
/** A name, a value without objects, and what comes after it. Strings have no escapes and no halves of characters. */
const field =
  /("[^"\\\0-\x1f\ud800-\udfff]*"):(?:"[^"\\\0-\x1f\ud800-\udfff]*"|-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?|true|false|null|\[(?:(?:"[^"\\\0-\x1f\ud800-\udfff]*"|-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?|true|false|null)(?:,(?!\])|(?=\])))*\])([,}])/y;

export interface CanonicalMessage {
  readonly type: string;
  /** A flat JSON object on one line, in which no name occurs twice. */
  readonly data: string;
  readonly deliveryId?: string;
}

/**
 * The parts of a message that is written as `toMessage` writes them; null for any other, which may still be an event. The payload
 * is checked by its grammar (a flat object is a regular language) and taken as it was written, which takes less than half as long
 * as to parse it and to write it again.
 */
export function readCanonicalMessage(message: string): CanonicalMessage | null {
  if (message.length > maxChars) return null;
  const [start, type] = head.exec(message) ?? [];
  if (start === undefined || type === undefined) return null;
  const end = skipFields(message, start.length);
  if (end === null) return null;
  tail.lastIndex = end;
  const last = tail.exec(message);
  if (last === null) return null;
  const data = message.slice(start.length - 1, end);
  return last[1] === undefined ? { type, data } : { type, data, deliveryId: last[1] };
}

/** Where the payload ends whose first field begins there; null for one that is empty, long, not flat, or has a name twice. */
function skipFields(message: string, from: number): number | null {
  const names: string[] = [];
  field.lastIndex = from;
  for (;;) {
    const [, name, separator] = field.exec(message) ?? [];
    if (name === undefined || names.length === maxFields || names.includes(name)) return null;
    if (separator === "}") return field.lastIndex;
    names.push(name);
  }
}
