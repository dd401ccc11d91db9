import type { JsonObject } from "../../shared/json.ts";
import type { Zones } from "../checks/evaluating/zones.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { readText, textsIn } from "../checks/parsing/fields.ts";
import { nameOf } from "../checks/parsing/names.ts";
import { accessOf, isBuiltIn } from "../checks/parsing/rule_order.ts";
import { entriesOf, type ApiTokenOwner, type JsonList } from "../evidence/artifacts.ts";

/** Reads from an org what its document speaks of, to compare the two and to draft one. */

/** Names of zones that a rule lets in from, and keeps out; null where a part of it cannot be read. */
export interface ZoneUse {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

/** Returns the zones of the network condition at `path`, by name; null where it cannot be read or is not by zone. */
export function zoneUseOf(object: JsonObject, path: string, { isDenial = false, zones }: ZoneReading): ZoneUse | null {
  const connection = readText(object, `${path}.connection`);
  if (connection.kind !== "value" || connection.value !== "ZONE") return null;
  const [include, exclude] = ["include", "exclude"].map((list) =>
    textsIn(object, `${path}.${list}`).map((id) => {
      const zone = zones.find(id);
      return zone === undefined ? id : nameOf(zone);
    }),
  );
  if (include === undefined || exclude === undefined) return null;
  return isDenial ? { allowed: exclude, denied: include } : { allowed: include, denied: exclude };
}

interface ZoneReading {
  readonly isDenial?: boolean;
  readonly zones: Zones;
}

/** Returns the zones of the rule that decides: the active one at priority 1; null where there is no single one. */
export function sessionZoneUse(rules: JsonList, zones: Zones): ZoneUse | null {
  const [rule, ...others] = rules.filter((one) => one["priority"] === 1 && activityOf(one) === "active");
  if (rule === undefined || others.length > 0) return null;
  const isDenial = accessOf(rule, "actions.signon.access") === "DENY";
  return zoneUseOf(rule, "conditions.network", { isDenial, zones });
}

/** Returns what the rules of an app let in from, and what each of these leaves out or another one denies. */
export function appZoneUse(rules: JsonList, zones: Zones): ZoneUse | null {
  const active = rules.filter((rule) => activityOf(rule) === "active" && isBuiltIn(rule) === false);
  const read = active.map((rule) => {
    const isDenial = accessOf(rule, "actions.appSignOn.access") === "DENY";
    return { isDenial, use: zoneUseOf(rule, "conditions.network", { isDenial, zones }) };
  });
  const letIn = read.filter(({ isDenial }) => !isDenial).map(({ use }) => use);
  if (letIn.some((use) => use === null)) return null;
  const [first, ...others] = letIn.filter((use) => use !== null);
  if (first === undefined) return null;
  const leftOutByAll = first.denied.filter((name) => others.every(({ denied }) => denied.includes(name)));
  const denied = read.flatMap(({ isDenial, use }) => (isDenial && use !== null ? use.denied : []));
  return { allowed: [first, ...others].flatMap(({ allowed }) => allowed), denied: [...leftOutByAll, ...denied] };
}

/** Returns the roles of a token's owner, direct and through groups, as far as they were read. */
export function rolesOf({ roles, groups }: ApiTokenOwner): JsonList {
  return [roles, ...entriesOf(groups).map((group) => group.roles)].flatMap(entriesOf);
}
