import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where `node bench/peers/install.ts` puts what the gateway and the scanner are compared with. No part of it is a dependency. */
export const peersFolder = join(import.meta.dirname, "../../node_modules/.cache/scanstream/peers");

/** A file of that folder; null where it is not installed. */
export function findPeer(...path: readonly string[]): string | null {
  const file = join(peersFolder, ...path);
  return existsSync(file) ? file : null;
}
