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

/** Whether they add up to every address of a family, in whatever pieces. */
export function coverEverything(ranges: readonly AddressRange[]): boolean {
  return ([4, 6] as const).some((family) => {
    let next = 0n;
    for (const { first, last } of ranges.filter((range) => range.family === family).toSorted(byFirst)) {
      if (first > next) return false;
      if (last >= next) next = last + 1n;
    }
    return next === 1n << bitsOf(family);
  });
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
