import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { cleanProviderText } from "./provider_text.ts";

/** Deeper than anything the provider sends; what walks a value later may recurse that far. */
const maxJsonDepth = 100;

/** Kind of a body. `broken`: not JSON at all, or cut off; `too_deep`: nested beyond all reason. */
export type ParsedBody =
  | {
      readonly kind: "json";
      readonly value: unknown;
      /** Entries of a list that are nested beyond all reason, by index: null in the list, and here what can be read of them. */
      readonly tooDeep: ReadonlyMap<number, JsonObject>;
    }
  | { readonly kind: "html" | "empty" | "broken" | "too_deep" };

/** Reads an answer's body. Every text in it has gone through the door for text of the provider (`provider_text.ts`). */
export function parseBody(body: string): ParsedBody {
  const text = body.trim();
  if (text === "") return { kind: "empty" };
  if (text.startsWith("<")) return { kind: "html" };
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return { kind: "json", ...cleanEntries(parsed) };
    return { kind: "json", value: clean(parsed), tooDeep: new Map() };
  } catch (error) {
    return { kind: error instanceof SyntaxError ? "broken" : "too_deep" };
  }
}

/** One entry that is nested too deeply costs itself, and not its page. */
function cleanEntries(entries: readonly unknown[]) {
  const tooDeep = new Map<number, JsonObject>();
  const value = entries.map((entry, index) => {
    try {
      return clean(entry);
    } catch {
      tooDeep.set(index, isJsonObject(entry) ? readableFields(entry) : {});
      return null;
    }
  });
  return { value, tooDeep };
}

function readableFields(entry: JsonObject): JsonObject {
  const fields = Object.entries(entry).flatMap(([name, value]) => {
    try {
      return [[name, clean(value)] as const];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(fields);
}

/** Throws `RangeError` for what is nested too deeply. */
function clean(value: unknown): unknown {
  return cleanProviderText(value, { pageField: "pageContent", maxDepth: maxJsonDepth });
}

/** The object in a body; empty when none exists, for reading error codes. */
export function objectIn(body: string): JsonObject {
  const parsed = parseBody(body);
  return parsed.kind === "json" && isJsonObject(parsed.value) ? parsed.value : {};
}
