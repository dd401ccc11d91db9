/**
 * The address of an HTTP service, without a slash at its end. Throws `TypeError` that names the variable and never the
 * value: what people paste there may hold a password.
 */
export function parseServiceUrl(value: string, variable: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new TypeError(
      `Cannot make a broker: ${variable} is not valid: expected an https:// URL without user, query and fragment`,
    );
  }
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
}

/** Throws `TypeError` for a key or token that no header can carry; it names the variable, never the value. */
export function requireCredential(value: string, variable: string): void {
  // A caller in JavaScript may have left it out.
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  throw new TypeError(`Cannot make a broker: ${variable} is not valid: expected a text without spaces and line breaks`);
}
