import { createHmac } from "node:crypto";

/** Links to the next page: opaque cursors of this org, each good for one list. */

export function sealCursor(numbers: readonly number[], purpose: string, secret: Uint8Array): string {
  const text = numbers.join("_");
  const seal = createHmac("sha256", secret).update(`${purpose} ${text}`).digest("base64url").slice(0, 12);
  return Buffer.from(`${text}.${seal}`).toString("base64url");
}

/** Null: it is of another list, of another org, or no cursor. */
export function openCursor(cursor: string, purpose: string, secret: Uint8Array): readonly number[] | null {
  const [text = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(".");
  if (!/^\d{1,15}(?:_\d{1,15})*$/.test(text)) return null;
  const numbers = text.split("_").map(Number);
  return sealCursor(numbers, purpose, secret) === cursor ? numbers : null;
}

export function pageAddress(address: string, parameters: readonly (readonly [name: string, value: string])[]): string {
  const text = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString();
  return `${address}${text === "" ? "" : `?${text}`}`;
}
