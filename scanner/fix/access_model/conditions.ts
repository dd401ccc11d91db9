import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { readTexts, textsIn } from "../../checks/parsing/fields.ts";
import { restrictionsOf } from "../../checks/parsing/rule_conditions.ts";

/**
 * Something that is true of a sign-in or not: `group 00g1`, `zone nzo1`, `risk HIGH`, `device managed`. The conditions of
 * rules are made of these.
 */
export type Fact = string;

/** When a rule applies: one fact of each list of `anyOf` is true, and no fact of `noneOf`. */
export interface RuleConditions {
  readonly anyOf: readonly (readonly Fact[])[];
  readonly noneOf: readonly Fact[];
}

export interface ConditionsContext {
  /** The ids of the group that every user is in; null where it is unknown, and the group a fact like others. */
  readonly everyone: ReadonlySet<string> | null;
  /** Whether a zone holds every address. */
  readonly isEverywhere: (zoneId: string) => boolean;
}

/**
 * The conditions of a rule as facts. A condition that is not modeled, or that cannot be read, is a separate fact, which
 * may be true or false independently of the others.
 */
export function conditionsOf(rule: JsonObject, context: ConditionsContext): RuleConditions {
  const conditions = isJsonObject(rule["conditions"]) ? rule["conditions"] : {};
  const anyOf: (readonly Fact[])[] = [];
  const noneOf: Fact[] = [];
  for (const name of restrictionsOf(rule, context.everyone).keys()) {
    const condition = conditions[name];
    const parts = isJsonObject(condition) ? (readers[name]?.(condition, context) ?? null) : null;
    if (parts === null) anyOf.push([`${name} ${canonicalText(condition)}`]);
    else {
      anyOf.push(...parts.anyOf);
      noneOf.push(...parts.noneOf);
    }
  }
  return { anyOf, noneOf };
}

type ConditionReader = (condition: JsonObject, context: ConditionsContext) => RuleConditions | null;

const readers: Readonly<Record<string, ConditionReader>> = {
  people: readPeople,
  network: readNetwork,
  riskScore: ({ level, ...others }) =>
    typeof level === "string" && Object.keys(others).length === 0 ? { anyOf: [[`risk ${level}`]], noneOf: [] } : null,
  device: ({ registered, managed, ...others }) => {
    if (Object.values(others).some((value) => value !== null && value !== undefined)) return null;
    if (![registered, managed].every((value) => value === undefined || value === null || typeof value === "boolean")) {
      return null;
    }
    const asked = [
      ...(registered === true ? ["device registered"] : []),
      ...(managed === true ? ["device managed"] : []),
    ];
    return { anyOf: asked.map((fact) => [fact]), noneOf: [] };
  },
};

/** Included users and groups add up. */
function readPeople(people: JsonObject, { everyone }: ConditionsContext): RuleConditions | null {
  const kinds = [
    ["users", "user"],
    ["groups", "group"],
  ] as const;
  if (Object.keys(people).some((name) => name !== "users" && name !== "groups")) return null;
  const included: Fact[] = [];
  const noneOf: Fact[] = [];
  let isForEverybody = false;
  for (const [field, word] of kinds) {
    const lists = [`${field}.include`, `${field}.exclude`];
    if (lists.some((path) => readTexts(people, path).kind === "unreadable")) return null;
    for (const id of textsIn(people, `${field}.include`)) {
      if (field === "groups" && everyone?.has(id) === true) isForEverybody = true;
      else included.push(`${word} ${id}`);
    }
    for (const id of textsIn(people, `${field}.exclude`)) {
      noneOf.push(field === "groups" && everyone?.has(id) === true ? alwaysTrue : `${word} ${id}`);
    }
  }
  return { anyOf: isForEverybody || included.length === 0 ? [] : [included], noneOf };
}

/** A fact that holds for every sign-in. */
export const alwaysTrue: Fact = "everybody";

function readNetwork(network: JsonObject, { isEverywhere }: ConditionsContext): RuleConditions | null {
  const { connection } = network;
  if (connection !== undefined && connection !== null && connection !== "ZONE") return null;
  if (["include", "exclude"].some((field) => readTexts(network, field).kind === "unreadable")) return null;
  const factOf = (id: string) => (isEverywhere(id) ? alwaysTrue : `zone ${id}`);
  const include = textsIn(network, "include").map(factOf);
  if (connection === "ZONE" && include.length === 0 && textsIn(network, "exclude").length === 0) return null;
  return {
    anyOf: include.length === 0 || include.includes(alwaysTrue) ? [] : [include],
    noneOf: textsIn(network, "exclude").map(factOf),
  };
}

/** The same text for the same value in any order of fields. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalText(item)}`)
    .join(",")}}`;
}
