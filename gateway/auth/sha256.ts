import { toHex } from "../../shared/hex.ts";

/** Hashes the text in UTF-8, to lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}
