import * as v from "valibot";

/**
 * Addresses from the first to the last, as numbers of 128 bits. An IPv4 address has the number of the IPv6 address that
 * stands for it (`::ffff:192.0.2.1`).
 */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** One entry of a zone: an address, a CIDR (`192.0.2.0/24`) or a range (`192.0.2.1-192.0.2.9`); null for anything else. */
export function readAddressRange(text: string): AddressRange | null {
  const [from = "", to, ...more] = text.split("-").map((part) => part.trim());
  if (more.length > 0) return null;
  if (to === undefined) return readCidr(from);
  const [first, last] = [readAddress(from), readAddress(to)];
  const isOneFamily = from.includes(":") === to.includes(":");
  return first === null || last === null || !isOneFamily || last < first ? null : { first, last };
}

/** How much of the internet some addresses are, in any pieces. `broad`: more than half of it. */
export type Extent = "part" | "broad" | "everywhere";

export function extentOf(ranges: readonly AddressRange[]): Extent {
  if (coverageOf([...ranges, ...special])(unicast) || coverageOf(ranges)(globalUnicast)) return "everywhere";
  return countIn(ranges, mapped) > 1n << 31n || countIn(ranges, globalUnicast) > 1n << 124n ? "broad" : "part";
}

/** Returns a test that is true where every address of the wanted range is in one of these, in any pieces. */
export function coverageOf(ranges: readonly AddressRange[]): (wanted: AddressRange) => boolean {
  const whole = merged(ranges);
  return ({ first, last }) => {
    // A search by halves: a document may list 100,000 ranges, and a zone 5,000.
    let [from, to] = [0, whole.length];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if ((whole[middle]?.first ?? 0n) <= first) from = middle + 1;
      else to = middle;
    }
    return (whole[from - 1]?.last ?? -1n) >= last;
  };
}

/** True where no address is in both. */
export function areApart(one: readonly AddressRange[], other: readonly AddressRange[]): boolean {
  return countIn([...one, ...other], all) === countIn(one, all) + countIn(other, all);
}

function countIn(ranges: readonly AddressRange[], block: AddressRange): bigint {
  const sizes = merged(ranges).map(({ first, last }) => {
    const from = first > block.first ? first : block.first;
    const to = last < block.last ? last : block.last;
    return from > to ? 0n : to - from + 1n;
  });
  return sizes.reduce((sum, size) => sum + size, 0n);
}

/** Joins ranges that overlap or touch. */
function merged(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const result: AddressRange[] = [];
  for (const range of ranges.toSorted((one, other) => (one.first < other.first ? -1 : 1))) {
    const last = result.at(-1);
    if (last === undefined || range.first > last.last + 1n) result.push(range);
    else if (range.last > last.last) result[result.length - 1] = { ...last, last: range.last };
  }
  return result;
}

function readCidr(text: string): AddressRange | null {
  const [ip = "", prefix, ...more] = text.split("/");
  const address = readAddress(ip);
  if (address === null || more.length > 0) return null;
  const bits = ip.includes(":") ? 128n : 32n;
  if (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && BigInt(prefix) <= bits)) return null;
  const size = 1n << (bits - BigInt(prefix ?? bits));
  const first = address - (address % size);
  return { first, last: first + size - 1n };
}

const ipv4 = v.pipe(v.string(), v.ipv4());

function readAddress(text: string): bigint | null {
  const written = v.is(ipv4, text) ? `::ffff:${text}` : text;
  // Without a scope (`fe80::1%eth0`), with which an address means something on one machine only.
  const url = /^[\da-f:.]*:[\da-f:.]*$/i.test(written) ? URL.parse(`http://[${written}]`) : null;
  return url === null ? null : ipv6Value(url.hostname.slice(1, -1));
}

/** The number of an address as a URL has it: groups of sixteen bits, at most one run of zeros left out. */
function ipv6Value(text: string): bigint {
  const groupsOf = (side: string) => side.split(":").filter((group) => group !== "");
  const [before = [], after = []] = text.split("::").map(groupsOf);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) + BigInt(`0x${group}`), 0n);
}

function rangeOf(text: string): AddressRange {
  const range = readAddressRange(text);
  if (range === null) throw new TypeError(`Not an address range: "${text}"`);
  return range;
}

const all = rangeOf("::/0");
const mapped = rangeOf("::ffff:0:0/96");
/** Every IPv6 address that the internet routes is in it. */
const globalUnicast = rangeOf("2000::/3");

/** The IPv4 addresses that the internet does not route, from IANA's registry of special purposes. */
const special = (
  "10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 " +
  "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24"
)
  .split(" ")
  .map(rangeOf);

/** Addresses that the internet routes, and the special ones between. */
const unicast = rangeOf("1.0.0.0-223.255.255.255");
