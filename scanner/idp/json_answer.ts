import type { JsonObject } from "../artifacts.ts";

/** Deeper than anything the provider sends; what walks a value later may recurse that far. */
const maxJsonDepth = 100;

/** What a body turned out to be. `broken`: not JSON at all, or cut off; `too_deep`: nested beyond all reason. */
export type ParsedBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "html" | "empty" | "broken" | "too_deep" };

export function parseBody(body: string): ParsedBody {
  const text = body.trim();
  if (text === "") return { kind: "empty" };
  if (text.startsWith("<")) return { kind: "html" };
  try {
    const value: unknown = JSON.parse(text);
    return isDeeperThan(value, maxJsonDepth) ? { kind: "too_deep" } : { kind: "json", value };
  } catch {
    return { kind: "broken" };
  }
}

/** The object in a body; empty when there is none, for reading error codes. */
export function objectIn(body: string): JsonObject {
  const parsed = parseBody(body);
  return parsed.kind === "json" && isJsonObject(parsed.value) ? parsed.value : {};
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
