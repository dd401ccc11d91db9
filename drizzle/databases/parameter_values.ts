import { toHex } from "../../shared/hex.ts";

/** A parameter in Postgres' text format; the server knows its type from the statement. The same on every driver. */
export function encodeParameter(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${toHex(value)}`;
  if (Array.isArray(value)) return encodeArray(value);
  const json = JSON.stringify(value);
  if (typeof json !== "string") throw new TypeError(`Cannot send a parameter: a ${typeof value} has no text form`);
  return json;
}

const boolOid = 16;
const int2Oid = 21;
const int4Oid = 23;

/** A value in Postgres' text format. What is not a boolean or a small integer stays text, for Drizzle's column to decode. */
export function decodeValue(typeOid: number, text: string | null): unknown {
  if (text === null) return null;
  if (typeOid === boolOid) return text === "t" || text === "true";
  if (typeOid === int4Oid || typeOid === int2Oid) return Number(text);
  return text;
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function encodeArray(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (Array.isArray(value)) return encodeArray(value);
    const text = encodeParameter(value);
    return text === null ? "NULL" : `"${text.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${items.join(",")}}`;
}
