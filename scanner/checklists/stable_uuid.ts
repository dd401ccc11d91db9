import { createHash } from "node:crypto";

/** Namespace of this product's own UUIDs: 6f1c5a0e-5d0b-4e6f-9a1f-3f0a7c2d8e41. */
const namespace = new Uint8Array([
  0x6f, 0x1c, 0x5a, 0x0e, 0x5d, 0x0b, 0x4e, 0x6f, 0x9a, 0x1f, 0x3f, 0x0a, 0x7c, 0x2d, 0x8e, 0x41,
]);

/** A UUID of version 5 (RFC 9562, section 5.5): the same parts give the same one, so that a report of the same scan is the same file. */
export function stableUuid(...parts: readonly string[]): string {
  const bytes = createHash("sha1").update(namespace).update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
