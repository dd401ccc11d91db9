import type { RedisEndpoint } from "./redis_url.ts";

const slotCount = 16_384;

const encoder = new TextEncoder();

/** CRC16 XMODEM of each byte. */
const crcTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021);
  return crc;
});

/** The slot of a key: CRC16 of it, or of its part in braces (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/). */
export function toSlot(key: string): number {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
  let crc = 0;
  for (const byte of encoder.encode(tag ?? key)) crc = ((crc << 8) & 0xffff) ^ (crcTable[(crc >> 8) ^ byte] ?? 0);
  return crc % slotCount;
}

/** Reads `CLUSTER SLOTS`: the primary of each slot. `asked` announced itself without its address. Throws `TypeError`. */
export function parseSlots(reply: unknown, asked: RedisEndpoint): (RedisEndpoint | undefined)[] {
  const primaries = Array.from<RedisEndpoint | undefined>({ length: slotCount });
  for (const range of requireArray(reply)) {
    const [from, to, primary] = requireArray(range);
    const [host, port] = requireArray(primary);
    const endpoint = { host: typeof host === "string" && host !== "" ? host : asked.host, port: Number(port) };
    for (let slot = Number(from); slot <= Number(to); slot += 1) primaries[slot] = endpoint;
  }
  return primaries;
}

/** The node that a refused command should go to, by `MOVED <slot> <host>:<port>`. */
export function parseMoved(message: string, asked: RedisEndpoint): RedisEndpoint | null {
  const [, host, port] = /^MOVED \d+ (\S*):(\d+)/.exec(message) ?? [];
  if (host === undefined) return null;
  return { host: host === "" || host === "?" ? asked.host : host, port: Number(port) };
}

/**
 * Whether a node, by its own `CLUSTER NODES`, is a primary that sees the majority of primaries. Without it the others
 * replace it, and it does not hear of that.
 */
export function isServingPrimary(nodes: string): boolean {
  const all = nodes.split("\n").map((line) => line.split(" "));
  const flagsOf = (fields: readonly string[]) => (fields[2] ?? "").split(",");
  const withSlots = all.filter((fields) => flagsOf(fields).includes("master") && fields.length > 8);
  const seen = withSlots.filter((fields) => !flagsOf(fields).some((flag) => flag.startsWith("fail")));
  return withSlots.some((fields) => flagsOf(fields).includes("myself")) && seen.length * 2 > withSlots.length;
}

function requireArray(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError("The answer to CLUSTER SLOTS is not of that form");
}
