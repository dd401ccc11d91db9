import * as v from "valibot";

/** Addresses of one family, from the first to the last, as numbers. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** One entry of a zone: an address, a CIDR (`192.0.2.0/24`) or a range (`192.0.2.1-192.0.2.9`); null for anything else. */
export function readAddressRange(text: string): AddressRange | null {
  const [from = "", to, ...more] = text.split("-").map((part) => part.trim());
  if (more.length > 0) return null;
  if (to === undefined) return readCidr(from);
  const first = readAddress(from);
  const last = readAddress(to);
  if (first === null || last?.family !== first.family || last.value < first.value) return null;
  return { family: first.family, first: first.value, last: last.value };
}

/** How much of the internet some addresses are, in any pieces. `broad`: more than half of it. */
export type Extent = "part" | "broad" | "everywhere";

export function extentOf(ranges: readonly AddressRange[]): Extent {
  const { four, six } = familiesOf(ranges);
  if (covers([...four, ...special], unicast) || covers(six, globalUnicast)) return "everywhere";
  return count(four) > 1n << 31n || count(six) > 1n << 124n ? "broad" : "part";
}

/** True where every address of the wanted range is in one of the others, in any pieces. */
export function covers(ranges: readonly AddressRange[], wanted: AddressRange): boolean {
  return merged(ranges.filter(({ family }) => family === wanted.family)).some((range) => contains(range, wanted));
}

function familiesOf(ranges: readonly AddressRange[]) {
  const sixes = ranges.filter(({ family }) => family === 6);
  return {
    four: merged([...ranges.filter(({ family }) => family === 4), ...sixes.map(mappedPart).filter(isRange)]),
    six: merged(sixes.map((range) => within(range, globalUnicast)).filter(isRange)),
  };
}

/** The IPv4 addresses among those of an IPv6 range that stand for one (`::ffff:192.0.2.1`). */
function mappedPart(range: AddressRange): AddressRange | null {
  const part = within(range, mapped);
  return part === null ? null : { family: 4, first: part.first - mapped.first, last: part.last - mapped.first };
}

function within({ family, first, last }: AddressRange, block: AddressRange): AddressRange | null {
  const from = first > block.first ? first : block.first;
  const to = last < block.last ? last : block.last;
  return from > to ? null : { family, first: from, last: to };
}

/** Without overlaps, and without gaps between neighbors. */
function merged(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const result: AddressRange[] = [];
  for (const range of ranges.toSorted(byFirst)) {
    const last = result.at(-1);
    if (last === undefined || range.first > last.last + 1n) result.push(range);
    else if (range.last > last.last) result[result.length - 1] = { ...last, last: range.last };
  }
  return result;
}

function count(ranges: readonly AddressRange[]): bigint {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
}

function contains(range: AddressRange, block: AddressRange): boolean {
  return range.first <= block.first && range.last >= block.last;
}

function isRange(range: AddressRange | null): range is AddressRange {
  return range !== null;
}

interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

function readCidr(text: string): AddressRange | null {
  const [ip = "", prefix, ...more] = text.split("/");
  const address = readAddress(ip);
  if (address === null || more.length > 0) return null;
  const bits = bitsOf(address.family);
  if (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && BigInt(prefix) <= bits)) return null;
  const size = 1n << (bits - (prefix === undefined ? bits : BigInt(prefix)));
  const first = address.value - (address.value % size);
  return { family: address.family, first, last: first + size - 1n };
}

const ipv4 = v.pipe(v.string(), v.ipv4());
const ipv6 = v.pipe(v.string(), v.ipv6());

function readAddress(text: string): Address | null {
  // With a scope (`fe80::1%eth0`) an address means something on one machine only.
  if (text.includes("%")) return null;
  if (v.is(ipv4, text)) return { family: 4, value: ipv4Value(text) };
  return v.is(ipv6, text) ? { family: 6, value: ipv6Value(text) } : null;
}

function ipv4Value(text: string): bigint {
  return text.split(".").reduce((value, octet) => (value << 8n) + BigInt(octet), 0n);
}

function ipv6Value(text: string): bigint {
  const [before = [], after = []] = text.split("::").map(groupsOf);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0n);
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) + group, 0n);
}

/** The groups of sixteen bits on one side of `::`; the last one may be written as an IPv4 address. */
function groupsOf(side: string): readonly bigint[] {
  return side
    .split(":")
    .filter((group) => group !== "")
    .flatMap((group) => {
      if (!group.includes(".")) return [BigInt(`0x${group}`)];
      const value = ipv4Value(group);
      return [value >> 16n, value & 0xffffn];
    });
}

function bitsOf(family: 4 | 6): bigint {
  return family === 4 ? 32n : 128n;
}

function byFirst(one: AddressRange, other: AddressRange): number {
  if (one.first === other.first) return 0;
  return one.first < other.first ? -1 : 1;
}

function rangeOf(text: string): AddressRange {
  const range = readAddressRange(text);
  if (range === null) throw new TypeError(`Not an address range: "${text}"`);
  return range;
}

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
