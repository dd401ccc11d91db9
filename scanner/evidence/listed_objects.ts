import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { resourceOf } from "../checks/parsing/names.ts";
import {
  availableValue,
  entriesOf,
  type BuiltInApp,
  type Evidence,
  type JsonList,
  type PolicyWithRules,
} from "./artifacts.ts";

/** An object of the provider as an artifact holds it. */
export interface ListedObject {
  /** `policy`, `policy_rule`, `app`, `zone`, … */
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** The object itself, not a copy: what reads it is found by its identity. */
  readonly value: JsonObject;
}

/** The object that others are parts of, as a policy is of its rules. */
export interface Parent {
  readonly id: string;
  readonly name: string;
}

/** Objects that were obtained together. */
export interface InnerList {
  readonly parent: Parent;
  /** `obtained`, or the reason why it is not whole: `objects` are those that arrived. */
  readonly state: string;
  readonly objects: readonly ListedObject[];
}

export interface ListedObjects {
  readonly objects: readonly ListedObject[];
  /** The lists within it, as the rules of each policy. */
  readonly inner?: readonly InnerList[];
  /** Reason why it holds less than there is, although the provider answered. */
  readonly state?: string;
}

/** The settings of the Admin Console, which the provider gives no id. */
export const consoleSettings = { type: "settings", id: "admin-console", name: "Okta Admin Console" } as const;

export function objectsOf(type: string): (found: JsonList) => ListedObjects {
  return (found) => ({ objects: listed(type, found) });
}

export function policiesWithRules(found: readonly PolicyWithRules[]): ListedObjects {
  return {
    objects: listed(
      "policy",
      found.map(({ policy }) => policy),
    ),
    // The rules of an inactive policy were not requested.
    inner: found.flatMap(({ policy, rules }) => (rules === null ? [] : [rulesOf(resourceOf("policy", policy), rules)])),
  };
}

export function rulesById(byId: Readonly<Record<string, Evidence<JsonList>>>): ListedObjects {
  const inner = Object.entries(byId).map(([id, rules]) => rulesOf({ id, name: `access policy ${id}` }, rules));
  return { objects: [], inner };
}

/** A role that is not shown the app does not say that it is gone. */
export function builtInApp({ app, rules }: BuiltInApp): ListedObjects {
  if (app === null) return { objects: [], state: "missing_role" };
  const inner = rules === null ? [] : [rulesOf(resourceOf("app", app), rules)];
  return { objects: listed("app", [app]), inner };
}

function rulesOf({ id, name }: Parent, rules: Evidence<JsonList>): InnerList {
  return { parent: { id, name }, state: stateOf(rules), objects: listed("policy_rule", entriesOf(rules)) };
}

/** The one part of an object, which has its id and name. */
export function innerPart(type: string, { id, name }: Parent, part: Evidence<object | null>): InnerList {
  const value = availableValue(part);
  const objects = value === null ? [] : [{ type, id, name, value: asObject(value) }];
  return { parent: { id, name }, state: stateOf(part), objects };
}

export function stateOf(evidence: Evidence<unknown>): string {
  return evidence.state === "missing" ? evidence.reason : evidence.state;
}

export function listed(type: string, found: JsonList): readonly ListedObject[] {
  return found.map((value) => ({ ...resourceOf(type, value), value }));
}

export function asObject(value: object): JsonObject {
  if (isJsonObject(value)) return value;
  throw new TypeError("Cannot list an artifact's objects: it holds a list where an object is expected");
}
