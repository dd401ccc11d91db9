import { InvalidSetting } from "../environment_reader.ts";
import { isHeaderSafe } from "../text.ts";

/** The address of an HTTP service, without a slash at its end. Throws `InvalidSetting`. */
export function parseServiceUrl(value: string): string {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username + url.password + url.search + url.hash === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
  throw new InvalidSetting("expected an http:// or https:// URL without user, query and fragment");
}

/** A key or token that a header can carry. Throws `InvalidSetting`. */
export function parseCredential(value: string): string {
  // A caller in JavaScript may have left it out.
  if (isHeaderSafe(value)) return value;
  throw new InvalidSetting("expected a text without spaces and line breaks");
}

/** Throws `TypeError` that names the variable and never the value: what people paste there may hold a password. */
export function parseOption<Value>(variable: string, value: string, parse: (value: string) => Value): Value {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    throw new TypeError(`Cannot make a broker: ${variable} is not valid: ${error.message}`, { cause: error });
  }
}
