import type { JsonObject } from "../../../shared/json.ts";
import type { FindingResource } from "../../../shared/report.ts";
import { shorten } from "../../../shared/text.ts";

const naming = ["label", "name", "id", "key"] as const;

/** Returns the name that the console shows for a provider object. */
export function nameOf(object: JsonObject): string {
  return firstText(object, naming) ?? "unnamed";
}

export function resourceOf(type: string, object: JsonObject): FindingResource {
  const name = nameOf(object);
  return { type, id: firstText(object, ["id"]) ?? name, name };
}

function firstText(object: JsonObject, fields: readonly string[]): string | null {
  for (const field of fields) {
    const text = object[field];
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return null;
}

/**
 * The items sorted by a text: what a finding picks or lists must not depend on the order in which the provider happens
 * to answer.
 */
export function sortBy<Item>(items: readonly Item[], textOf: (item: Item) => string): readonly Item[] {
  if (items.length < 2) return items;
  const keyed = items.map((item) => ({ item, text: textOf(item) }));
  keyed.sort((one, other) => (one.text === other.text ? 0 : one.text < other.text ? -1 : 1));
  return keyed.map(({ item }) => item);
}

export function sortTexts(texts: readonly string[]): readonly string[] {
  return sortBy(texts, (text) => text);
}

/** The first five of them, sorted, and how many more there are. */
export function listTexts(texts: readonly string[], maxLength = 100): string {
  return listSome(sortTexts(texts), { maxLength });
}

/** `a, b and 3 more`: the first of them in their order, each cut to its maximum, and how many are left. */
export function listSome(texts: readonly string[], { most = 5, between = ", ", maxLength = 100 } = {}): string {
  const first = texts.slice(0, most).map((text) => shorten(text, maxLength));
  return `${first.join(between)}${texts.length > most ? ` and ${texts.length - most} more` : ""}`;
}

/** `"A", "B"`, the names of objects. */
export function listNames(objects: readonly JsonObject[]): string {
  return listTexts(objects.map((object) => `"${nameOf(object)}"`));
}

/** `zone` before one text, `zones` before others. */
export function nounFor({ length }: readonly string[], noun: string): string {
  return length === 1 ? noun : `${noun}s`;
}

/** The names that are not in `compared` come first: in a long list only they matter. */
export function quoteAll(names: readonly string[], compared: readonly string[] = []): string {
  const [known, other] = [new Set(compared), sortTexts([...new Set(names)])];
  const inOrder = [...other.filter((name) => !known.has(name)), ...other.filter((name) => known.has(name))];
  return listSome(inOrder.map((name) => `"${name}"`));
}

/**
 * True for a text that can be an id: no empty text, nothing longer than any id, and no blanks or invisible characters, as in ids that
 * `okta/provider_text.ts` had to change.
 */
export function isUsableId(id: unknown): id is string {
  return typeof id === "string" && idShape.test(id);
}

// Lone surrogates are of the category C too.
const idShape = /^[^\s\p{C}\uFFFD]{1,200}$/u;
