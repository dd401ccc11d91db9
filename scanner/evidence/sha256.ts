import { hash } from "node:crypto";

/** The hash that findings are told apart by, many times faster for short texts than the portable one. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
