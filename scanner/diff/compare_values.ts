import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { nameOf } from "../checks/parsing/names.ts";
import type { FieldChange } from "../../shared/schemas/diff.ts";
import { compareTexts, pairUp } from "./pairs.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/** Fields that differ between two versions of an object. Order, timestamps and links make no difference. */
export function compareObjects(before: JsonObject, after: JsonObject): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  compareFields("", { before, after, changes });
  return changes;
}

interface Comparison<Value> {
  readonly before: Value;
  readonly after: Value;
  readonly changes: FieldChange[];
}

/** `path` as a person reads it: `roles[Super Administrator].type`. */
function compareFields(path: string, { before, after, changes }: Comparison<JsonObject>): void {
  const [old, now] = [withoutLinks(before), withoutLinks(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort(compareTexts);
  for (const name of names) {
    const [from, to] = [own(old, name), own(now, name)];
    if (isTimestamp(name, from) && isTimestamp(name, to)) continue;
    // The value of evidence within an artifact is no field of the provider's.
    const isWrapped = name === "value" && old["state"] === "obtained" && now["state"] === "obtained";
    const inner = path === "" ? name : `${path}.${name}`;
    compareValues(isWrapped ? path : inner, { before: from, after: to, changes });
  }
}

function compareValues(path: string, { before, after, changes }: Comparison<unknown>): void {
  if (isJsonObject(before) && isJsonObject(after)) compareFields(path, { before, after, changes });
  else if (Array.isArray(before) && Array.isArray(after)) compareLists(path, { before, after, changes });
  else if (canonical(before) !== canonical(after)) {
    changes.push({ path, from: before ?? null, to: after ?? null });
  }
}

/** Entries that are objects are paired by id, then by name; a list of anything else counts as a whole. */
function compareLists(path: string, { before, after, changes }: Comparison<readonly unknown[]>): void {
  if (!before.every(hasName) || !after.every(hasName)) {
    const isSame = sortedTexts(before).join("\n") === sortedTexts(after).join("\n");
    if (!isSame) changes.push({ path, from: before, to: after });
    return;
  }
  const { pairs, removed, added } = pairUp<JsonObject>(before, after, { idOf, nameOf });
  for (const [old, now] of pairs) compareFields(atEntry(path, now), { before: old, after: now, changes });
  for (const entry of removed) changes.push({ path: atEntry(path, entry), from: entry, to: null });
  for (const entry of added) changes.push({ path: atEntry(path, entry), from: null, to: entry });
}

function hasName(entry: unknown): entry is JsonObject {
  return isJsonObject(entry) && nameOf(entry) !== "unnamed";
}

function idOf(entry: JsonObject): string {
  return typeof entry["id"] === "string" ? entry["id"] : nameOf(entry);
}

function atEntry(path: string, entry: JsonObject): string {
  return `${path}[${nameOf(entry)}]`;
}

/** The one link that is a setting: which policy an app is bound to. */
const accessPolicy = "accessPolicy";

function withoutLinks(object: JsonObject): JsonObject {
  if (!Object.hasOwn(object, "_links") && !Object.hasOwn(object, "_embedded")) return object;
  const { _links, _embedded, ...rest } = object;
  const policy = accessPolicyId(object);
  return policy === null ? rest : { ...rest, [accessPolicy]: typeof policy === "string" ? policy : "unreadable" };
}

const timestampName = /^(?:created|updated|last[A-Z]\w*|(?:created|updated)At)$/;

function isTimestamp(name: string, value: unknown): boolean {
  if (!timestampName.test(name)) return false;
  return value === null || value === undefined || (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value));
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function sortedTexts(items: readonly unknown[]): readonly string[] {
  return items.map(canonical).sort(compareTexts);
}

/** The same text for the same value, regardless of the order of its keys; not set and null are the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).sort(compareTexts);
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}
