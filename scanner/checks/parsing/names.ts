import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import type { FindingResource } from "../../../shared/report.ts";

/** What the console calls a provider object. */
export function nameOf(object: JsonObject): string {
  return firstText(object, ["label", "name", "id", "key"]) ?? "unnamed";
}

export function resourceOf(type: string, object: JsonObject): FindingResource {
  const name = nameOf(object);
  return { type, id: firstText(object, ["id"]) ?? name, name };
}

function firstText(object: JsonObject, fields: readonly string[]): string | null {
  // An entry of a list may be no object.
  if (!isJsonObject(object)) return null;
  for (const field of fields) {
    const text = object[field];
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return null;
}
