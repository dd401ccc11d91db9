import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { availableValue, type Evidence, type JsonList, type MissingEvidence } from "../../evidence/artifacts.ts";
import { firstRequestText } from "../../evidence/artifact_table.ts";
import { sortTexts, nameOf, sortBy } from "./names.ts";
import { requireDefault } from "./whole_list.ts";
import { activityOf, unknownActivity } from "./activity.ts";
import { readBoolean, readNumber, readObject, readWord, showValue } from "./fields.ts";

/** How far a condition, or a part of one, limits whom a rule is for: not at all, or to some, or nobody can tell from what was read. */
export type Limit = "none" | "some" | "unknown";

/**
 * The conditions of a policy rule that can leave somebody to a later rule, by their names in the provider's JSON; empty
 * where the rule applies to everybody. Unknown conditions count as ones that limit; a value whose shape this version does
 * not know is an `unknown` limit. `everyone` holds the ids of the group that every user is in; null where it is unknown.
 */
export function restrictionsOf(rule: JsonObject, everyone: ReadonlySet<string> | null): ReadonlyMap<string, Limit> {
  const conditions = rule["conditions"];
  if (conditions === undefined || conditions === null) return new Map();
  if (!isJsonObject(conditions)) return new Map([["conditions", "unknown"]]);
  const limits = sortTexts(Object.keys(conditions)).map((name) => {
    const condition = conditions[name];
    if (!isJsonObject(condition) || limitOf(condition) === "none") return [name, shapeOf(condition)] as const;
    return [name, name === "people" ? limitOfPeople(condition, everyone) : limitOfCondition(name, condition)] as const;
  });
  return new Map(limits.filter(([, limit]) => limit !== "none"));
}

/** The evidence that says which group is the one of everybody, which matters only where a rule names groups. */
export function groupsFor(rules: JsonList): readonly "built_in_groups"[] {
  const includesGroups = ({ conditions }: JsonObject) => {
    const people = isJsonObject(conditions) ? conditions["people"] : null;
    const groups = isJsonObject(people) ? people["groups"] : null;
    return isJsonObject(groups) && limitOf(groups["include"]) !== "none";
  };
  return rules.some(includesGroups) ? ["built_in_groups"] : [];
}

/**
 * The ids of the group that every user is in: built in, and named Everyone (administrators have a built-in group, too).
 * Null where no answer shows that group, which every org has, so that nobody can tell whether a condition on groups leaves anybody out.
 */
export function everyoneIn(groups: Evidence<JsonList> | undefined): ReadonlySet<string> | null {
  const listed = groups === undefined ? null : availableValue(groups);
  const ids = (listed ?? []).filter(isEveryone).flatMap(({ id }) => (typeof id === "string" ? [id] : []));
  return ids.length > 0 ? new Set(ids) : null;
}

/** Returns why nobody can tell whether the groups that a rule names are everybody; null where that group is known, or none is named. */
export function missingEveryone(groups: Evidence<JsonList> | undefined, rule: JsonObject): MissingEvidence | null {
  if (groups === undefined || groupsFor([rule]).length === 0) return null;
  const request = firstRequestText("built_in_groups");
  const whole = requireDefault(groups, { isDefault: isEveryone, name: "group Everyone", request });
  return whole.state === "missing" && everyoneIn(groups) === null ? whole : null;
}

function isEveryone({ type, profile }: JsonObject): boolean {
  return type === "BUILT_IN" && isJsonObject(profile) && profile["name"] === "Everyone";
}

/** Users and groups that are included add up, so that the group of everybody is enough by itself. */
function limitOfPeople(people: JsonObject, everyone: ReadonlySet<string> | null): Limit {
  const { groups, ...others } = people;
  const rest = limitOf(others);
  if (!isJsonObject(groups)) return together([rest, shapeOf(groups)]);
  const { include, ...excluded } = groups;
  const included = limitOf(include);
  const isIncluded = Array.isArray(include) && include.some((id) => typeof id === "string" && everyone?.has(id));
  if (isIncluded || included === "none") return together([rest, limitOf(excluded)]);
  const isKnown = everyone !== null && Array.isArray(include) && include.every((id) => typeof id === "string");
  return together([rest, limitOf(excluded), isKnown ? included : "unknown"]);
}

type Readers = Readonly<Record<string, (value: unknown) => Limit>>;

/** Fields of conditions that have values for everybody. */
const fieldReaders: ReadonlyMap<string, Readers> = new Map([
  ["riskScore", { level: limitOfWord }],
  ["authContext", { authType: limitOfWord }],
  ["identityProvider", { provider: limitOfWord }],
  ["provider", { provider: limitOfWord }],
  ["device", { registered: limitOfFlag, managed: limitOfFlag }],
  ["platform", { include: limitOfPlatforms }],
]);

function limitOfCondition(name: string, condition: JsonObject): Limit {
  if (name !== "network") return limitOfFields(condition, fieldReaders.get(name) ?? {});
  // A list that is stored next to ANYWHERE means nothing.
  const { connection } = condition;
  return connection === "ANYWHERE" ? "none" : connection === "ZONE" ? "some" : "unknown";
}

function limitOfFields(fields: JsonObject, readers: Readers): Limit {
  const known = Object.entries(readers).map(([name, read]) => read(fields[name]));
  const others = Object.entries(fields).filter(([name]) => !Object.hasOwn(readers, name));
  return together([...known, ...others.map(([, value]) => limitOf(value))]);
}

/** The word for everybody is written as the API writes it; in another case nobody knows. */
function limitOfWord(word: unknown): Limit {
  if (word === "ANY") return "none";
  return typeof word === "string" && word.toUpperCase() !== "ANY" ? "some" : "unknown";
}

/** `false` asks for nothing. */
function limitOfFlag(value: unknown): Limit {
  if (value === true) return "some";
  return value === false ? "none" : shapeOf(value);
}

function limitOfPlatforms(include: unknown): Limit {
  if (!Array.isArray(include) || include.length !== 1 || !isJsonObject(include[0])) return limitOf(include);
  const limitOfSystem = (os: unknown) => (isJsonObject(os) ? limitOfFields(os, { type: limitOfWord }) : shapeOf(os));
  return limitOfFields(include[0], { type: limitOfWord, os: limitOfSystem });
}

/** An empty value asserts nothing; of any other that should have been an object nobody knows what it says. */
function shapeOf(value: unknown): Limit {
  return limitOf(value) === "none" ? "none" : "unknown";
}

/** Returns how far a value limits. An element of a list is a text or an object that does; any other cannot be read. */
function limitOf(value: unknown): Limit {
  if (value === undefined || value === null || value === "") return "none";
  if (isJsonObject(value)) return together(Object.values(value).map(limitOf));
  if (!Array.isArray(value)) return "some";
  const isReadable = (item: unknown) =>
    typeof item === "string" ? item !== "" : isJsonObject(item) && limitOf(item) === "some";
  return together(value.map((item) => (isReadable(item) ? "some" : "unknown")));
}

/** One limit is enough, and what cannot be read may be one. */
function together(limits: readonly Limit[]): Limit {
  return limits.find((limit) => limit === "some") ?? limits.find((limit) => limit === "unknown") ?? "none";
}

export type AccessPath = "actions.signon.access" | "actions.appSignOn.access";

/** Returns what a rule does with those whom it matches; one that does not say lets them in. */
export function accessOf(rule: JsonObject, path: AccessPath): "ALLOW" | "DENY" | "unknown" {
  const access = readWord(rule, path, ["ALLOW", "DENY"]);
  return access.kind === "unreadable" ? "unknown" : (access.value ?? "ALLOW");
}

/** The rules that may be active, in the order in which they apply; those of one stage tie, and a built-in rule loses a tie. */
export function stagesOf(rules: JsonList): readonly JsonList[] {
  const active = rules.filter((rule) => activityOf(rule) !== "inactive" && hasReadablePriority(rule));
  const stages = Map.groupBy(place(active), ({ priority, isLast }) => `${priority} ${isLast}`);
  return [...stages.values()].map((stage) => stage.map(({ rule }) => rule));
}

/** All rules as Okta lists them: in the order in which they apply, unreadable rules last. */
export function inOrder(rules: JsonList): JsonList {
  return place(rules).map(({ rule }) => rule);
}

/** Each rule is read once: a policy may have a hundred thousand. */
function place(rules: JsonList) {
  return sortBy(rules, orderText)
    .map((rule) => ({ rule, priority: priorityOf(rule), isLast: isBuiltIn(rule) === true }))
    .toSorted((one, other) =>
      one.priority === other.priority
        ? Number(one.isLast) - Number(other.isLast)
        : one.priority < other.priority
          ? -1
          : 1,
    );
}

/** Null where it is unknown: `system` is neither true nor false, and the name is not a built-in one. */
export function isBuiltIn(rule: JsonObject): boolean | null {
  const [system, name] = [readBoolean(rule, "system"), rule["name"]];
  // An administrator may name any rule like this. For a rule of sessions, DISA's text goes by the name.
  if (system.kind === "value")
    return system.value || (name === "Default Rule" && readObject(rule, "actions.signon").kind === "value");
  return name === "Default Rule" || name === "Catch-all Rule" || (system.kind === "absent" ? false : null);
}

export function isSure(rule: JsonObject): boolean {
  return activityOf(rule) === "active";
}

export function hasReadablePriority(rule: JsonObject): boolean {
  return readNumber(rule, "priority").kind !== "unreadable";
}

export function describeUnreadable(rule: JsonObject): string {
  return hasReadablePriority(rule) ? unknownActivity(rule) : `the priority ${showValue(rule["priority"])}`;
}

export function orderText(rule: JsonObject): string {
  return `${nameOf(rule)} ${showValue(rule["id"])}`;
}

/** Missing priorities come last. */
export function priorityOf(rule: JsonObject): number {
  return readNumber(rule, "priority").value ?? Number.POSITIVE_INFINITY;
}
