import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { neighboursOf } from "./org_words.ts";

export type Way = readonly (string | number)[];

/** A copy in which one thing somewhere inside is gone, null, of another type, or another word or number of its kind. */
export function mutate(object: JsonObject, random: () => number): JsonObject {
  const ways = waysIn(object);
  const way = ways[Math.floor(random() * ways.length)];
  if (way === undefined) return object;
  return changeAt(object, way, (value) => {
    const values = insteadOf(value);
    return values[Math.floor(random() * values.length)];
  }) as JsonObject;
}

/** Replacements for a value; `undefined` removes it. */
function insteadOf(value: unknown): readonly unknown[] {
  const broken = [undefined, undefined, null, null, {}, [], 7, "another type", true];
  if (typeof value === "number")
    return [...broken, 0, 1, 2, 3, -1, value - 1, value + 1, value * 10, value, String(value)];
  if (typeof value === "boolean") return [undefined, null, !value, !value, String(value), 1];
  if (typeof value === "string") {
    const neighbours = neighboursOf(value);
    return [...broken, ...neighbours, ...neighbours, "SOMETHING_NEW", value.toLowerCase(), "", `${value} `];
  }
  if (Array.isArray(value))
    return [...broken, [], [null, ...value], [...value, 7], value.slice(1), [...value, ...value]];
  return broken;
}

/** The way to everything inside, parents before what they hold. */
function waysIn(value: unknown, way: Way = []): readonly Way[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : [];
  return inner.flatMap(([key, item]) => [[...way, key], ...waysIn(item, [...way, key])]);
}

/** A copy with one place changed; `undefined` removes a field. */
export function changeAt(value: unknown, way: Way, change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = way;
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === key ? changeAt(item, rest, change) : item));
  if (!isJsonObject(value)) return value;
  const changed = changeAt(value[key], rest, change);
  const { [key]: _removed, ...others } = value;
  return changed === undefined ? others : { ...others, [key]: changed };
}

/** The ways to every list inside, the value itself included. */
export function listsIn(value: unknown, way: Way = []): readonly Way[] {
  const inner = Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : [];
  const found = inner.flatMap(([key, item]) => listsIn(item, [...way, key]));
  return Array.isArray(value) ? [way, ...found] : found;
}

/** In any order but the certificates of a chain, which start with the one that is meant. */
export function shuffle(value: unknown, random: () => number): unknown {
  if (Array.isArray(value)) {
    const keyed = value.map((item: unknown) => ({ item: shuffle(item, random), key: random() }));
    return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === "x5c" ? item : shuffle(item, random)]),
  );
}
