import { AppError } from "../../shared/app_error.ts";

/** Deeper than any body of this API. */
const maxDepth = 32;
/** A batch of 500 findings has half of it. */
const maxValues = 50_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Before it is parsed: what is deep or all brackets holds the event loop for seconds, and takes a hundred times the memory of its text.
 * Throws `AppError("too_large")`.
 */
export function requireJsonBounds(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfString(bytes, at);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) throw new AppError("too_large", `The body is nested deeper than ${maxDepth} levels`);
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    } else if (byte === comma || byte === colon) {
      values += 1;
    }
    if (values > maxValues) throw new AppError("too_large", `The body has more than ${maxValues} values and keys`);
  }
}

/** Returns the place of its closing quote; the end where it has none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1;
    while (bytes[before] === backslash) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return bytes.length;
}
