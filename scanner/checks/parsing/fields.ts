import { shorten } from "../../../shared/text.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";

/**
 * One field of the provider's JSON. Absent (or null) means that the org does not assert it; unreadable means that it has
 * another shape than the expected one, so that no verdict can rest on it.
 */
export type Field<Value> =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "absent"; readonly value: null }
  | { readonly kind: "unreadable"; readonly value: null; readonly found: string };

/** A number by its path, `settings.password.age.maxAgeDays`. */
export function readNumber(object: JsonObject, path: string): Field<number> {
  return narrow(readField(object, path), (value) =>
    typeof value === "number" && Number.isFinite(value) ? value : null,
  );
}

export function readBoolean(object: JsonObject, path: string): Field<boolean> {
  return narrow(readField(object, path), (value) => (typeof value === "boolean" ? value : null));
}

export function readText(object: JsonObject, path: string): Field<string> {
  return narrow(readField(object, path), (value) => (typeof value === "string" ? value : null));
}

/** One of a closed set of words; any other word is unreadable. */
export function readWord<Word extends string>(object: JsonObject, path: string, words: readonly Word[]): Field<Word> {
  return narrow(readField(object, path), (value) => words.find((word) => word === value) ?? null);
}

/** A list of texts; absent counts as absent, not as empty. */
export function readTexts(object: JsonObject, path: string): Field<readonly string[]> {
  return narrow(readField(object, path), (value) => (isTexts(value) ? value : null));
}

/** The texts of a list, other items left out: enough for a FAIL, never for a PASS. */
export function textsIn(object: JsonObject, path: string): readonly string[] {
  return (readList(object, path).value ?? []).filter((item) => typeof item === "string");
}

export function readList(object: JsonObject, path: string): Field<readonly unknown[]> {
  return narrow(readField(object, path), (value) => (Array.isArray(value) ? value : null));
}

export function readObject(object: JsonObject, path: string): Field<JsonObject> {
  return narrow(readField(object, path), (value) => (isJsonObject(value) ? value : null));
}

/** A value in a finding: JSON, shortened to fit a sentence. */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return shorten(text, 80);
}

function readField(object: JsonObject, path: string): Field<unknown> {
  let value: unknown = object;
  for (const name of path.split(".")) {
    if (!isJsonObject(value)) return unreadable(value);
    value = Object.hasOwn(value, name) ? value[name] : undefined;
    if (value === undefined || value === null) return { kind: "absent", value: null };
  }
  return { kind: "value", value };
}

function narrow<Value>(field: Field<unknown>, read: (value: unknown) => Value | null): Field<Value> {
  if (field.kind !== "value") return field;
  const value = read(field.value);
  return value === null ? unreadable(field.value) : { kind: "value", value };
}

export function unreadable(value: unknown): Field<never> {
  return { kind: "unreadable", value: null, found: showValue(value) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
