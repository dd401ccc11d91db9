import { expandIPv6 } from "hono/utils/ipaddr";

const longest = 45;
/** Some proxies append the port too: `192.0.2.1:49152`, `[2001:db8::1]:49152`. Each connection would be another address. */
const withPort = /^(?:([\d.]+)|\[(.*)\])(?::\d+)?$/;

/**
 * The address that a request came from, with so many proxies before this gateway. Each appends to `X-Forwarded-For` whom it spoke to, so
 * what a client writes there itself stands to the left of what counts. Without that number of addresses the nearest peer counts.
 */
export function clientAddress(headers: Headers, peer: string | null, trustedProxyHops: number): string {
  if (trustedProxyHops === 0) return networkOf(peer ?? "");
  const appended = headers.get("x-forwarded-for")?.split(",").at(-trustedProxyHops)?.trim() ?? "";
  const named = appended.replace(withPort, "$1$2");
  const isAddress = named.length <= longest && /^[\d.]+$|^[\da-f.]*:[\da-f:.]*$/i.test(named);
  return networkOf(isAddress ? named : (peer ?? ""));
}

/** A host has a whole /64 of IPv6 addresses to choose from: they count as one. */
function networkOf(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined || !URL.canParse(`http://[${address}]`)) return ipv4 ?? address;
  const groups = expandIPv6(address).split(":").slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}
