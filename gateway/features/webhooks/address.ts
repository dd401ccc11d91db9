import ipaddr from "ipaddr.js";

/**
 * Where a webhook may lead. The URL is what a tenant's admin wrote, so without a bound the gateway would be a way into the
 * network it runs in: loopback, private ranges, the cloud's metadata address.
 */

export interface TargetRules {
  /** `WEBHOOK_ALLOW_PRIVATE`: any address, any port, and http. */
  readonly allowPrivate: boolean;
}

/**
 * True for an address of the public internet. What is not unicast by its own range is not, and neither is an address in
 * which another one is written (IPv4 in IPv6, NAT64, 6to4, Teredo) unless that one is looked at in its place.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  // All that is assigned, https://www.iana.org/assignments/ipv6-address-space: the library takes what it does not know as unicast.
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}

const globalUnicast = ipaddr.parseCIDR("2000::/3");

/**
 * What is wrong with a URL as far as it can be told without a lookup; null: nothing. The URL parser has made one form of all
 * the ways to write an address (decimal, octal, hex, fewer parts), so they are all judged as what they mean.
 */
export function targetProblem(text: string, { allowPrivate }: TargetRules): string | null {
  if (!URL.canParse(text)) return "is not a URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    return "is not an https:// URL: http is accepted only with WEBHOOK_ALLOW_PRIVATE=1";
  }
  if (url.username !== "" || url.password !== "")
    return "must not contain a user name or password: the signature authenticates the message";
  if (text.includes("#")) return "must not contain a fragment: it would not be sent";
  if (allowPrivate) return null;
  if (url.port !== "" && Number(url.port) < firstFreePort) {
    return `uses a port of another service: expected 443, or ${firstFreePort} and above`;
  }
  const host = hostOf(url);
  const isLiteral = ipaddr.isValid(host);
  if (isLiteral ? !isPublicAddress(host) : /(^|\.)localhost\.?$/.test(host)) return privateProblem;
  return null;
}

export const privateProblem =
  "leads to a private, loopback or reserved address: accepted only with WEBHOOK_ALLOW_PRIVATE=1";

/** Below it are the ports of mail, shells and directories. */
const firstFreePort = 1024;

/** `host:port` of the URL, which one receiver's requests are counted by. */
export function receiverOf(text: string): string {
  const url = new URL(text);
  return `${hostOf(url)}:${url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port}`;
}

/** The name or the address, an IPv6 one without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}
