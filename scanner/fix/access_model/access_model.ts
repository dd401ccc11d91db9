import type { JsonObject } from "../../../shared/json.ts";
import type { JsonList } from "../../evidence/artifacts.ts";
import { type RuleCriteria } from "../../checks/evaluating/rules.ts";
import { accessOf, isBuiltIn } from "../../checks/parsing/rule_order.ts";
import { activityOf, isUnidentified } from "../../checks/parsing/activity.ts";
import { readNumber } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { alwaysTrue, conditionsOf, type ConditionsContext, type Fact, type RuleConditions } from "./conditions.ts";

/**
 * Who may do what by the rules of one policy. A cell is an equivalence class of sign-ins: all of them for which the same
 * facts are true, such as being in a group, in a network zone, at high risk or on a managed device. Facts that every rule
 * names together count as one, so that the number of cells stays small.
 */
export interface AccessModel {
  readonly rules: readonly ModelRule[];
  /** In words, why the rules cannot be modeled; null where they are. */
  readonly problem: string | null;
}

export interface ModelRule {
  readonly name: string;
  readonly access: "ALLOW" | "DENY";
  readonly conditions: RuleConditions;
  /** What it demands of those whom it lets in: the provider's `actions`. */
  readonly actions: JsonObject;
}

/** `denied` also where no rule applies. */
export type AccessOutcome = { readonly kind: "denied" } | { readonly kind: "allowed"; readonly rule: ModelRule };

export interface ModelContext extends ConditionsContext {
  readonly accessPath: RuleCriteria["accessPath"];
}

/** The active rules of a policy in the order in which the provider evaluates them. */
export function createAccessModel(rules: JsonList, context: ModelContext): AccessModel {
  const problem = rules.map((rule) => problemOf(rule, context)).find((text) => text !== null) ?? null;
  if (problem !== null) return { rules: [], problem };
  const active = rules
    .filter((rule) => activityOf(rule) === "active")
    .toSorted((one, other) => rankOf(one) - rankOf(other) || placeOf(one) - placeOf(other));
  const isTied = active.some((rule, index) => {
    const next = active[index + 1];
    return next !== undefined && rankOf(rule) === rankOf(next) && placeOf(rule) === placeOf(next);
  });
  if (isTied) return { rules: [], problem: "several active rules have the same priority, so their order is unknown" };
  return {
    problem: null,
    rules: active.map((rule) => ({
      name: nameOf(rule),
      access: accessOf(rule, context.accessPath) === "DENY" ? "DENY" : "ALLOW",
      conditions: conditionsOf(rule, context),
      actions: rule["actions"] as JsonObject,
    })),
  };
}

function problemOf(rule: JsonObject, { accessPath }: ModelContext): string | null {
  if (isUnidentified(rule)) return "a rule of the policy cannot be read";
  const name = `rule "${nameOf(rule)}"`;
  if (activityOf(rule) === "unknown") return `the status of ${name} cannot be read`;
  if (activityOf(rule) === "inactive") return null;
  if (isBuiltIn(rule) === null) return `${name} may be the built-in rule`;
  if (isBuiltIn(rule) === false && readNumber(rule, "priority").kind !== "value") {
    return `the priority of ${name} cannot be read`;
  }
  if (typeof rule["actions"] !== "object" || rule["actions"] === null) return `the actions of ${name} cannot be read`;
  return accessOf(rule, accessPath) === "unknown" ? `the access of ${name} cannot be read` : null;
}

/** The provider keeps its built-in rule last, with any priority. */
function rankOf(rule: JsonObject): number {
  return isBuiltIn(rule) === true ? 1 : 0;
}

function placeOf(rule: JsonObject): number {
  const priority = readNumber(rule, "priority");
  return priority.kind === "value" ? priority.value : 0;
}

/** What becomes of a sign-in for which exactly these facts are true: the first rule that applies decides. */
export function evaluateAccess({ rules }: AccessModel, holds: (fact: Fact) => boolean): AccessOutcome {
  const isTrue = (fact: Fact) => fact === alwaysTrue || holds(fact);
  for (const rule of rules) {
    const { anyOf, noneOf } = rule.conditions;
    if (!anyOf.every((facts) => facts.some(isTrue)) || noneOf.some(isTrue)) continue;
    return rule.access === "ALLOW" ? { kind: "allowed", rule } : { kind: "denied" };
  }
  return { kind: "denied" };
}

/** More cells than this are not examined. */
const maxFacts = 14;

/** The facts that are true of a class of sign-ins. */
export type Cell = ReadonlySet<Fact>;

/** Every class of sign-ins that the rules of these models tell apart; null where there are too many. */
export function cellsOf(models: readonly AccessModel[]): readonly Cell[] | null {
  const groups = factGroupsOf(models.flatMap(({ rules }) => rules.map(({ conditions }) => conditions)));
  if (groups.length > maxFacts) return null;
  const cells: Cell[] = [];
  for (let bits = 0; bits < 2 ** groups.length; bits += 1) {
    const chosen = groups.filter((_, index) => Math.floor(bits / 2 ** index) % 2 === 1);
    // A sign-in has one level of risk.
    if (chosen.filter(([fact = ""]) => fact.startsWith("risk ")).length > 1) continue;
    cells.push(new Set(chosen.flat()));
  }
  return cells;
}

/** Facts that stand in the same lists are true together or not at all, as far as any rule can tell. */
function factGroupsOf(conditions: readonly RuleConditions[]): readonly (readonly Fact[])[] {
  const listsOf = new Map<Fact, string[]>();
  conditions.forEach(({ anyOf, noneOf }, rule) => {
    [...anyOf, noneOf].forEach((facts, list) => {
      for (const fact of facts) {
        if (fact === alwaysTrue) continue;
        listsOf.set(fact, [...(listsOf.get(fact) ?? []), `${rule}.${list === anyOf.length ? "none" : list}`]);
      }
    });
  });
  const groups = new Map<string, Fact[]>();
  for (const [fact, lists] of listsOf) {
    // Levels of risk exclude each other, so they are never one fact with others.
    const key = fact.startsWith("risk ") ? fact : [...new Set(lists)].join(" ");
    groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  return [...groups.values()];
}
