import { hash } from "node:crypto";

/** SHA-256 in hex. */
export function sha256(text: string): string {
  // Several times faster on short texts than createHash.
  return hash("sha256", text, "hex");
}
