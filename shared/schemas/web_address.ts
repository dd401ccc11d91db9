import * as v from "valibot";
import { isStorable } from "./primitives.ts";

const byte = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
const host = `(?:(?:[A-Za-z0-9-]+\\.)*[A-Za-z][A-Za-z0-9-]*|${byte}(?:\\.${byte}){3}|\\[::1\\])`;
const port = "(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))";
const addressMessage = "expected an address like https://acme.okta.com";

/** Without a user or a password. The pattern is for the documents: an address that it matches is accepted. */
export const webAddress = v.pipe(
  v.string(addressMessage),
  v.maxLength(2048, addressMessage),
  v.check(isWebAddress, addressMessage),
  v.metadata({ pattern: `^https?://${host}${port}?(?:[/?#][^\\s\\u0000]*)?$` }),
);

/** A page may show it as a link, so nothing but a web address gets in. */
function isWebAddress(value: string): boolean {
  // `URL` passes over blanks and line ends, which forge lines where the address is written.
  if (/[\s\p{Cc}]/u.test(value) || !isStorable(value) || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

/** Identity of an organization: the lower-case origin of its address. */
export function originOf(address: string): string {
  return (URL.canParse(address) ? new URL(address).origin : address).toLowerCase();
}
