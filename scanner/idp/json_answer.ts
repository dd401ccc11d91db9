import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { cleanProviderText } from "./provider_text.ts";

/** Deeper than anything the provider sends; what walks a value later may recurse that far. */
const maxJsonDepth = 100;

/** What a body turned out to be. `broken`: not JSON at all, or cut off; `too_deep`: nested beyond all reason. */
export type ParsedBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "html" | "empty" | "broken" | "too_deep" };

/** Reads an answer's body. Every text in it has gone through the door for text of the provider (`provider_text.ts`). */
export function parseBody(body: string): ParsedBody {
  const text = body.trim();
  if (text === "") return { kind: "empty" };
  if (text.startsWith("<")) return { kind: "html" };
  try {
    const value = cleanProviderText(JSON.parse(text), { pageField: "pageContent", maxDepth: maxJsonDepth });
    return { kind: "json", value };
  } catch (error) {
    return { kind: error instanceof SyntaxError ? "broken" : "too_deep" };
  }
}

/** The object in a body; empty when there is none, for reading error codes. */
export function objectIn(body: string): JsonObject {
  const parsed = parseBody(body);
  return parsed.kind === "json" && isJsonObject(parsed.value) ? parsed.value : {};
}
