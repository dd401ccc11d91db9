import type { JsonObject } from "../../shared/json.ts";
import { resourceOf } from "../checks/parsing/names.ts";
import { availableValue, entriesOf, type BuiltInApp, type Evidence, type JsonList } from "./artifacts.ts";

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
export type Parent = Pick<ListedObject, "id" | "name">;

/** Objects that were obtained together: those of an artifact itself, or the parts of one of them, as the rules of a policy. */
export interface ListedObjects {
  /** Null: they are parts of nothing. */
  readonly parent: Parent | null;
  /** `obtained`, or the reason why the list is not whole: `objects` are those that arrived. */
  readonly state: string;
  readonly objects: readonly ListedObject[];
}

/** The settings of the Admin Console, which the provider gives no id. */
export const consoleSettings = { type: "settings", id: "admin-console", name: "Okta Admin Console" } as const;

export function topLevel(objects: readonly ListedObject[], state = "obtained"): ListedObjects {
  return { parent: null, state, objects };
}

export function objectsOf(type: string): (found: JsonList) => readonly ListedObjects[] {
  return (found) => [topLevel(listed(type, found))];
}

/** Lists objects, and the parts of each: null where they were not requested, as the rules of an inactive policy. */
export function objectsWith<Item>(
  type: string,
  objectOf: (item: Item) => JsonObject,
  partsOf: (parent: Parent, item: Item) => ListedObjects | null,
): (found: readonly Item[]) => readonly ListedObjects[] {
  return (found) => [
    topLevel(listed(type, found.map(objectOf))),
    ...found.flatMap((item) => partsOf(resourceOf(type, objectOf(item)), item) ?? []),
  ];
}

export function rulesById(byId: Readonly<Record<string, Evidence<JsonList>>>): readonly ListedObjects[] {
  const rules = Object.entries(byId).map(([id, one]) => rulesOf({ id, name: `access policy ${id}` }, one));
  return [topLevel([]), ...rules];
}

/** A role that is not shown the app does not say that it is gone. */
export function builtInApp({ app, rules }: BuiltInApp): readonly ListedObjects[] {
  if (app === null) return [topLevel([], "missing_role")];
  return [topLevel(listed("app", [app])), ...(rules === null ? [] : [rulesOf(resourceOf("app", app), rules)])];
}

export function rulesOf({ id, name }: Parent, rules: Evidence<JsonList>): ListedObjects {
  return { parent: { id, name }, state: stateOf(rules), objects: listed("policy_rule", entriesOf(rules)) };
}

/** The one part of an object, which has its id and name. */
export function partOf(type: string, { id, name }: Parent, part: Evidence<JsonObject | null>): ListedObjects {
  const value = availableValue(part);
  const objects = value === null ? [] : [{ type, id, name, value }];
  return { parent: { id, name }, state: stateOf(part), objects };
}

export function stateOf(evidence: Evidence<unknown>): string {
  return evidence.state === "missing" ? evidence.reason : evidence.state;
}

function listed(type: string, found: JsonList): readonly ListedObject[] {
  return found.map((value) => ({ ...resourceOf(type, value), value }));
}
