import { createHash } from "node:crypto";

/** Of this product's own UUIDs. */
const namespace = Buffer.from("6f1c5a0e5d0b4e6f9a1f3f0a7c2d8e41", "hex");

/** A UUID of version 5 (RFC 9562, section 5.5): the same parts give the same one, so that a report of the same scan is the same file. */
export function stableUuid(...parts: readonly string[]): string {
  const bytes = createHash("sha1").update(namespace).update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
