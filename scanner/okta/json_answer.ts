import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { cleanProviderText } from "./provider_text.ts";

/** Deeper than anything the provider sends; what walks a value later may recurse that far. */
const maxJsonDepth = 100;

/** Kind of a body. `broken`: not JSON at all, or cut off. */
export type ParsedBody =
  | {
      readonly kind: "json";
      readonly value: unknown;
      /** Something in it was nested beyond all reason, and is null. */
      readonly isCut: boolean;
    }
  | { readonly kind: "html" | "empty" | "broken" };

/** Reads an answer's body. Every text in it is sanitized (`provider_text.ts`). */
export function parseBody(body: string): ParsedBody {
  const text = body.trim();
  if (text === "") return { kind: "empty" };
  if (text.startsWith("<")) return { kind: "html" };
  let isCut = false;
  const onTooDeep = () => {
    isCut = true;
  };
  try {
    const options = { pageField: "pageContent", maxDepth: maxJsonDepth, onTooDeep } as const;
    return { kind: "json", value: cleanProviderText(JSON.parse(text), options), isCut };
  } catch {
    return { kind: "broken" };
  }
}

/** The object in a body; empty when none exists, for reading error codes. */
export function objectIn(body: string): JsonObject {
  const parsed = parseBody(body);
  return parsed.kind === "json" && isJsonObject(parsed.value) ? parsed.value : {};
}
