const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Two lower-case digits a byte. `Uint8Array.prototype.toHex` is not in every runtime yet. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += digits[byte];
  return text;
}
