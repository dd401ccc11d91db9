import { providerError } from "./provider_errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { PracticeResponse } from "../http/body.ts";

/**
 * `filter` as the list endpoints know it: `attribute eq "value"`, several joined by `and`. Attributes that the endpoint
 * does not filter by are refused in the provider's way.
 */
export function parseFilter(
  text: string | null,
  attributes: readonly string[],
): { readonly matches: (item: JsonObject) => boolean } | { readonly refusal: PracticeResponse } {
  if (text === null) return { matches: () => true };
  const clauses = text.split(/(?<!\s)\s+and\s+/i).map((clause) => /^\s*([\w.]+)\s+eq\s+"([^"]*)"\s*$/i.exec(clause));
  const wanted: (readonly [string, string])[] = [];
  for (const clause of clauses) {
    const [, attribute, value] = clause ?? [];
    if (attribute === undefined || value === undefined || !attributes.includes(attribute)) {
      return { refusal: providerError("E0000031", { causes: [`Invalid filter '${text}'.`] }) };
    }
    wanted.push([attribute, value]);
  }
  return { matches: (item) => wanted.every(([attribute, value]) => item[attribute] === value) };
}
