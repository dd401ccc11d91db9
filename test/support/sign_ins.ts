import type { JsonList } from "../../scanner/evidence/artifacts.ts";
import { canonicalText } from "../../scanner/fix/access_model/conditions.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/**
 * Who may do what, evaluated sign-in by sign-in and without the model that `fix` proves its plans with: a second reading of
 * Okta's order of evaluation.
 */

/** A rule by what this reading knows of it. */
interface Rule {
  readonly place: number;
  readonly isActive: boolean;
  readonly isDenying: boolean;
  readonly conditions: JsonObject;
  readonly isTwoFactors: boolean;
  readonly isPhishingResistant: boolean;
  readonly idleMinutes: number;
}

const signInsOfPolicy = 40;

/** What goes wrong for sign-ins, the same ones before and after a change of a policy's rules. */
export function compareSignIns(
  rules: { readonly before: readonly JsonObject[]; readonly after: readonly JsonObject[] },
  { everywhere, isNamed, random }: { everywhere: ReadonlySet<string>; isNamed: boolean; random: () => number },
): readonly string[] {
  const [before, after] = [rules.before, rules.after].map((list) => list.map(ruleOf).toSorted(byPlace));
  if (before === undefined || after === undefined) return [];
  const problems: string[] = [];
  for (let number = 0; number < signInsOfPolicy; number += 1) {
    const facts = new Map<string, boolean>();
    const odds = random();
    // The same fact has the same answer before and after.
    const holds = (fact: string) =>
      everywhere.has(fact) || (facts.get(fact) ?? (facts.set(fact, random() < odds), facts.get(fact) === true));
    const [was, is] = [decide(before, holds), decide(after, holds)];
    const where = JSON.stringify([...facts]);
    if (is === null) {
      if (was !== null && !isNamed) problems.push(`${where}: denied afterwards, and not named`);
    } else if (was === null) problems.push(`${where}: let in`);
    else if (was.isTwoFactors && !is.isTwoFactors) problems.push(`${where}: one factor in place of two`);
    else if (was.isPhishingResistant && !is.isPhishingResistant) problems.push(`${where}: a phished factor is enough`);
    else if (was.idleMinutes < is.idleMinutes) problems.push(`${where}: a longer session`);
  }
  return problems;
}

/** The zones that every sign-in comes from, as facts. */
export function zonesOfEverybody(zones: JsonList): ReadonlySet<string> {
  // The IPv6 addresses have all of IPv4 among them; the two ranges are all that the internet routes.
  const isOne = (zone: JsonObject) =>
    zone["status"] === "ACTIVE" &&
    zone["usage"] === "POLICY" &&
    /"::\/0"|"1\.0\.0\.0-223\.255\.255\.255".*"2000::\/3"/.test(JSON.stringify(zone["gateways"] ?? null));
  const ids = zones
    .filter(isJsonObject)
    .filter(isOne)
    .map(({ id }) => id);
  return new Set((ids.length === 0 ? [] : [...ids, "ALL_ZONES"]).map((id) => `zone ${JSON.stringify(id)}`));
}

/** The rule that lets in; null where nobody is let in. */
function decide(rules: readonly Rule[], holds: (fact: string) => boolean): Rule | null {
  const found = rules.find(({ isActive, conditions }) => isActive && applies(conditions, holds));
  return found === undefined || found.isDenying ? null : found;
}

function applies(conditions: JsonObject, holds: (fact: string) => boolean): boolean {
  return Object.entries(conditions).every(([name, condition]) => {
    if (!isJsonObject(condition))
      return condition === null || condition === undefined || holds(`${name} ${canonicalText(condition)}`);
    if (name === "people") return appliesTo(condition, holds);
    if (name === "network") return appliesFrom(condition, holds);
    return isNothing(condition) || holds(`${name} ${canonicalText(condition)}`);
  });
}

function appliesTo({ users, groups, ...others }: JsonObject, holds: (fact: string) => boolean): boolean {
  const texts = (value: unknown, field: string) =>
    isJsonObject(value) && Array.isArray(value[field]) ? value[field].map(String) : [];
  const included = [
    ...texts(users, "include").map((id) => `user ${id}`),
    ...texts(groups, "include").map((id) => `group ${id}`),
  ];
  const excluded = [
    ...texts(users, "exclude").map((id) => `user ${id}`),
    ...texts(groups, "exclude").map((id) => `group ${id}`),
  ];
  const isIn = included.length === 0 || included.some((fact) => fact === "group 00gEveryone" || holds(fact));
  const isOut = excluded.some((fact) => fact === "group 00gEveryone" || holds(fact));
  return isIn && !isOut && (isNothing(others) || holds(JSON.stringify(others)));
}

function appliesFrom({ connection, include, exclude }: JsonObject, holds: (fact: string) => boolean): boolean {
  const zones = (value: unknown) => (Array.isArray(value) ? value.map((id) => `zone ${JSON.stringify(id)}`) : []);
  if (connection !== "ZONE")
    return isNothing(connection) || connection === "ANYWHERE" || holds(`network ${JSON.stringify(connection)}`);
  const [ins, outs] = [zones(include), zones(exclude)];
  return (ins.length === 0 || ins.some(holds)) && !outs.some(holds);
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === "ANY" || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.values(value).every(isNothing);
}

function ruleOf(rule: JsonObject): Rule {
  const text = JSON.stringify(rule["planned"] ?? rule["actions"] ?? null);
  const constraints = /"constraints":(\[.*\])/.exec(text)?.[1] ?? "[]";
  const idle = Number(/"(?:maxSessionIdleMinutes|session_idle)":(\d+)/.exec(text)?.[1] ?? 0);
  const isSystem = rule["system"] === true || ["Default Rule", "Catch-all Rule"].includes(String(rule["name"]));
  return {
    place: isSystem ? Number.POSITIVE_INFINITY : Number(rule["priority"] ?? 0),
    isActive: /^"active"$/i.test(JSON.stringify(rule["status"] ?? "ACTIVE")),
    isDenying: /"access":"DENY"/i.test(text),
    conditions: isJsonObject(rule["conditions"]) ? rule["conditions"] : {},
    isTwoFactors: /"(?:factorMode|factor_mode)":"2FA"/.test(text),
    isPhishingResistant:
      constraints !== "[]" && (constraints.match(/"phishingResistant":"REQUIRED"/g)?.length ?? 0) >= countOf(rule),
    idleMinutes: idle === 0 ? Number.POSITIVE_INFINITY : idle,
  };
}

/** How many alternatives of factors a rule has. */
function countOf(rule: JsonObject): number {
  const planned = rule["planned"];
  const of = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
  if (isJsonObject(planned)) return of(planned["constraints"]);
  const found = JSON.stringify(rule["actions"] ?? null).match(/"constraints":/) === null ? null : rule["actions"];
  const app = isJsonObject(found) ? found["appSignOn"] : null;
  const method = isJsonObject(app) ? app["verificationMethod"] : null;
  return isJsonObject(method) ? of(method["constraints"]) : 0;
}

function byPlace(one: Rule, other: Rule): number {
  return one.place === other.place ? 0 : one.place - other.place;
}
