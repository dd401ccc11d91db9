import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { nameOf } from "../checks/parsing/names.ts";
import type { FieldChange } from "./diff_schema.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/**
 * Fields that differ between two versions of an object. Order, timestamps and links make no difference. `path` leads to the
 * object, as a person reads it: `roles[Super Administrator].type`.
 */
export function compareObjects(before: JsonObject, after: JsonObject, path = ""): readonly FieldChange[] {
  const [old, now] = [withoutLinks(before), withoutLinks(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    const [from, to] = [old, now].map((object) => (Object.hasOwn(object, name) ? object[name] : undefined));
    if (isTimestamp(name, from) && isTimestamp(name, to)) return [];
    // The value of evidence within an artifact is not a field of the provider's.
    const isWrapped = name === "value" && old["state"] === "obtained" && now["state"] === "obtained";
    const inner = path === "" ? name : `${path}.${name}`;
    return compareValues(isWrapped ? path : inner, from, to);
  });
}

function compareValues(path: string, before: unknown, after: unknown): readonly FieldChange[] {
  if (isJsonObject(before) && isJsonObject(after)) return compareObjects(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(path, before, after);
  return canonical(before) === canonical(after) ? [] : [{ path, from: before ?? null, to: after ?? null }];
}

/** Entries that are objects are paired by id, then by name; a list of anything else counts as a whole. */
function compareLists(path: string, before: readonly unknown[], after: readonly unknown[]): readonly FieldChange[] {
  if (!before.every(hasName) || !after.every(hasName)) {
    const [old, now] = [before, after].map((items) => items.map(canonical).sort().join("\n"));
    return old === now ? [] : [{ path, from: before, to: after }];
  }
  const { pairs, removed, added } = pairUp<JsonObject>(before, after, { idOf, nameOf });
  const at = (entry: JsonObject) => `${path}[${nameOf(entry)}]`;
  return [
    ...pairs.flatMap(([old, now]) => compareObjects(old, now, at(now))),
    ...removed.map((entry) => ({ path: at(entry), from: entry, to: null })),
    ...added.map((entry) => ({ path: at(entry), from: null, to: entry })),
  ];
}

function hasName(entry: unknown): entry is JsonObject {
  return isJsonObject(entry) && nameOf(entry) !== "unnamed";
}

function idOf(entry: JsonObject): string {
  return typeof entry["id"] === "string" ? entry["id"] : nameOf(entry);
}

/** But for the one link that is a setting: which policy an app is bound to. */
function withoutLinks(object: JsonObject): JsonObject {
  if (!Object.hasOwn(object, "_links") && !Object.hasOwn(object, "_embedded")) return object;
  const { _links, _embedded, ...rest } = object;
  const policy = accessPolicyId(object);
  return policy === null ? rest : { ...rest, accessPolicy: typeof policy === "string" ? policy : "unreadable" };
}

const timestampName = /^(?:created|updated|last[A-Z]\w*|(?:created|updated)At)$/;

function isTimestamp(name: string, value: unknown): boolean {
  if (!timestampName.test(name)) return false;
  return value === null || value === undefined || (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value));
}

/** The same text for the same value, regardless of the order of its keys; not set and null are the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, part: unknown) =>
    isJsonObject(part) ? Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)) : part,
  );
}

/** Pairs what has the same id; of the rest what has the same name, where only one on each side has it. */
export function pairUp<Item>(
  before: readonly Item[],
  after: readonly Item[],
  { idOf, nameOf = idOf }: { readonly idOf: (item: Item) => string; readonly nameOf?: (item: Item) => string },
) {
  const byId = pairBy(before, after, { keyOf: idOf, most: Infinity });
  const byName = pairBy(byId.removed, byId.added, { keyOf: nameOf, most: 1 });
  return { ...byName, pairs: [...byId.pairs, ...byName.pairs] };
}

/** Pairs those of one key in their order, where no side has more than `most` of them. */
function pairBy<Item>(
  before: readonly Item[],
  after: readonly Item[],
  { keyOf, most }: { readonly keyOf: (item: Item) => string; readonly most: number },
) {
  const now = Map.groupBy(after, keyOf);
  const pairs = [...Map.groupBy(before, keyOf)].flatMap(([key, old]) => {
    const others = now.get(key) ?? [];
    return Math.max(old.length, others.length) > most
      ? []
      : old.slice(0, others.length).map((one, index) => [one, others[index] as Item] as const);
  });
  const paired = new Set(pairs.flat());
  const isLeft = (item: Item) => !paired.has(item);
  return { pairs, removed: before.filter(isLeft), added: after.filter(isLeft) };
}
