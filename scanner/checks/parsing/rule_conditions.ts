import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { availableValue, type Evidence, type JsonList } from "../../evidence/artifacts.ts";
import { readText } from "./fields.ts";
import { sortTexts } from "./names.ts";

/**
 * The conditions of a policy rule that can leave somebody to a later rule, by their names in the provider's JSON; empty
 * where the rule applies to everybody. Anything that is not provably empty counts, unknown and unreadable conditions included.
 * `everyone` holds the ids of the group that every user is in.
 */
export function restrictionsOf(rule: JsonObject, everyone: ReadonlySet<string>): readonly string[] {
  const conditions = rule["conditions"];
  if (conditions === undefined || conditions === null) return [];
  if (!isJsonObject(conditions)) return ["conditions"];
  return sortTexts(Object.keys(conditions)).filter((name) => {
    const condition = conditions[name];
    if (isEmpty(condition)) return false;
    if (!isJsonObject(condition)) return true;
    return name === "people" ? restrictsPeople(condition, everyone) : (restricts.get(name) ?? (() => true))(condition);
  });
}

/** Whether a rule names groups that it is for, so that it matters which of them is the group of everybody. */
export function includesGroups(rule: unknown): boolean {
  const people = isJsonObject(rule) && isJsonObject(rule["conditions"]) ? rule["conditions"]["people"] : null;
  const groups = isJsonObject(people) ? people["groups"] : null;
  return isJsonObject(groups) && !isEmpty(groups["include"]);
}

/**
 * The ids of the group that every user is in: built in, and named Everyone (administrators have a built-in group, too).
 * Empty where the groups were not read, so that a condition on groups counts as one.
 */
export function everyoneIn(groups: Evidence<JsonList> | undefined): ReadonlySet<string> {
  const listed = groups === undefined ? [] : (availableValue(groups) ?? []);
  const isEveryone = (group: unknown): group is JsonObject =>
    isJsonObject(group) &&
    group["type"] === "BUILT_IN" &&
    isJsonObject(group["profile"]) &&
    group["profile"]["name"] === "Everyone";
  return new Set(
    listed
      .filter(isEveryone)
      .map(({ id }) => id)
      .filter((id) => typeof id === "string"),
  );
}

/** The conditions of which some values mean everybody. */
const restricts: ReadonlyMap<string, (condition: JsonObject) => boolean> = new Map([
  // A list that is stored next to ANYWHERE means nothing.
  ["network", (condition) => condition["connection"] !== "ANYWHERE"],
  ["riskScore", (condition) => !isAny(condition, "level")],
  ["authContext", (condition) => !isAny(condition, "authType")],
  ["identityProvider", (condition) => !isAny(condition, "provider")],
  ["provider", (condition) => !isAny(condition, "provider")],
  // `false` asks for nothing.
  ["device", ({ registered, managed, ...others }) => isAsked(registered) || isAsked(managed) || !isEmpty(others)],
  ["platform", ({ include, ...others }) => !isEmpty(others) || !(isEmpty(include) || isAnyPlatform(include))],
]);

/** Users and groups that are included add up, so that the group of everybody is enough by itself. */
function restrictsPeople(people: JsonObject, everyone: ReadonlySet<string>): boolean {
  const { users, groups, ...others } = people;
  if (!isEmpty(others)) return true;
  if (!isEmpty(users)) return true;
  if (isEmpty(groups)) return false;
  if (!isJsonObject(groups)) return true;
  const { include, ...excluded } = groups;
  if (!isEmpty(excluded)) return true;
  return !(Array.isArray(include) && include.some((id) => typeof id === "string" && everyone.has(id)));
}

function isAny(condition: JsonObject, field: string): boolean {
  const { [field]: word, ...others } = condition;
  return word === "ANY" && isEmpty(others);
}

function isAsked(value: unknown): boolean {
  return value !== false && !isEmpty(value);
}

function isAnyPlatform(include: unknown): boolean {
  if (!Array.isArray(include) || include.length !== 1 || !isJsonObject(include[0])) return false;
  const { type, os, ...others } = include[0];
  const isAnyOs = isEmpty(os) || (isJsonObject(os) && readText(os, "type").kind === "value" && isAny(os, "type"));
  return type === "ANY" && isAnyOs && isEmpty(others);
}

/** Whether a value, with everything inside of it, asserts nothing. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.values(value).every(isEmpty);
}
