import { v5 } from "uuid";

/** Namespace of this product's own UUIDs. */
const namespace = "6f1c5a0e-5d0b-4e6f-9a1f-3f0a7c2d8e41";

/**
 * A UUID of version 5 (RFC 9562, section 5.5): the same parts give the same one, so that a report of the same scan is the same
 * file. The live page writes checklists, too, and a browser's own digests give no answer at once.
 */
export function stableUuid(...parts: readonly string[]): string {
  return v5(JSON.stringify(parts), namespace);
}
