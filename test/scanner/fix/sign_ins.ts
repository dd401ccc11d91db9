import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import type { CollectedArtifacts, Evidence, JsonList } from "../../../scanner/evidence/artifacts.ts";

/**
 * An evaluator of sign-ins: a second reading of Okta's order of evaluation, without any code of the scanner.
 */

const signInsOfPolicy = 40;

/** Lists the sign-ins that a change of the organization allows, or asks for less. */
export function compareSignIns(
  before: CollectedArtifacts,
  after: CollectedArtifacts,
  random: () => number,
): readonly string[] {
  const rulesAfter = rulesByPolicy(after);
  return [...rulesByPolicy(before)].flatMap(([id, rules]) =>
    compareRules(rules, rulesAfter.get(id) ?? [], random).map((problem) => `policy ${id}: ${problem}`),
  );
}

/** The rules of each session policy and of each policy of apps, in Okta's order. */
function rulesByPolicy({ global_session_policies: sessions, app_policy_rules: ofApps }: CollectedArtifacts) {
  const policies = (obtainedOf(sessions) ?? []).map(({ policy, rules }) => [String(policy["id"]), rules] as const);
  const all = [...policies, ...Object.entries(obtainedOf(ofApps) ?? {})];
  return new Map(all.map(([id, rules]): [string, JsonList] => [id, (obtainedOf(rules) ?? []).toSorted(byPlace)]));
}

function obtainedOf<Value>(evidence: Evidence<Value> | null | undefined): Value | null {
  return evidence?.state === "obtained" ? evidence.value : null;
}

function compareRules(
  before: readonly JsonObject[],
  after: readonly JsonObject[],
  random: () => number,
): readonly string[] {
  const problems: string[] = [];
  for (let number = 0; number < signInsOfPolicy; number += 1) {
    const facts = new Map<string, boolean>();
    const odds = random();
    // The same fact has the same answer before and after.
    const holds = (fact: string) => facts.get(fact) ?? (facts.set(fact, random() < odds), facts.get(fact) === true);
    const [was, is] = [decide(before, holds), decide(after, holds)];
    const lacking =
      was === null && is !== null ? ["it was denied"] : was === null || is === null ? [] : weaker(was, is);
    for (const what of lacking) problems.push(`a sign-in with ${JSON.stringify([...facts])} is allowed, and ${what}`);
  }
  return problems;
}

/** The rule that lets the sign-in through; null where it is denied. */
function decide(rules: readonly JsonObject[], holds: (fact: string) => boolean): JsonObject | null {
  const found = rules.find((rule) => isActive(rule) && applies(objectIn(rule, "conditions"), holds));
  return found === undefined || /"access":"DENY"/i.test(JSON.stringify(found["actions"] ?? null)) ? null : found;
}

/** Lists the demands of the first rule that the second one does not meet. */
function weaker(was: JsonObject, is: JsonObject): readonly string[] {
  const [one, other] = [demandsOf(was), demandsOf(is)];
  const numbers = Object.keys(one.numbers).filter((name) => (other.numbers[name] ?? 0) < (one.numbers[name] ?? 0));
  const isCovered = (alternative: readonly string[]) =>
    one.alternatives.some((wanted) => wanted.every((demand) => alternative.includes(demand)));
  const isWeaker =
    one.alternatives.length > 0 && !(other.alternatives.length > 0 && other.alternatives.every(isCovered));
  return [...numbers, ...(isWeaker ? ["other factors"] : [])].map((name) => `it needed more ${name}`);
}

/** Larger numbers are stricter. */
function demandsOf(rule: JsonObject) {
  const signon = objectIn(rule, "actions", "signon");
  const session = objectIn(signon, "session");
  const method = objectIn(rule, "actions", "appSignOn", "verificationMethod");
  const limit = (value: unknown) => (typeof value === "number" && value > 0 ? -value : Number.NEGATIVE_INFINITY);
  const constraints = Array.isArray(method["constraints"]) ? method["constraints"].filter(isJsonObject) : [];
  return {
    numbers: {
      factors: (method["factorMode"] === "2FA" ? 1 : 0) + (signon["requireFactor"] === true ? 1 : 0),
      "frequent prompts": limit(signon["factorLifetime"]),
      "frequent authentication": -secondsOf(method["reauthenticateIn"]),
      "recent activity": -secondsOf(method["inactivityPeriod"]),
      "idle time": limit(session["maxSessionIdleMinutes"]),
      lifetime: limit(session["maxSessionLifetimeMinutes"]),
      "cookies that end": session["usePersistentCookie"] === true ? 0 : 1,
      "prompts on a known device": signon["rememberDeviceByDefault"] === true ? 0 : 1,
    } as Readonly<Record<string, number>>,
    alternatives: constraints.map((constraint) =>
      Object.entries(constraint).flatMap(([factor, demands]) =>
        isJsonObject(demands) ? factorDemands(factor, demands) : [],
      ),
    ),
  };
}

/** A factor is required unless it says otherwise, and its lists narrow it. */
function factorDemands(factor: string, demands: JsonObject): readonly string[] {
  const isRequired = demands["required"] !== false;
  const fields = Object.entries(demands).filter(
    ([name, value]) => name !== "required" && value !== null && value !== "OPTIONAL",
  );
  return [
    ...(isRequired ? [factor] : []),
    ...fields.map(([name, value]) => `${factor} ${name} ${JSON.stringify(value)}`),
  ];
}

function secondsOf(duration: unknown): number {
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(String(duration)) ?? [];
  if (typeof duration !== "string" || duration === "") return Number.POSITIVE_INFINITY;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
}

function applies(conditions: JsonObject, holds: (fact: string) => boolean): boolean {
  return Object.entries(conditions).every(([name, condition]) => {
    if (isNothing(condition)) return true;
    if (name === "people" && isJsonObject(condition)) return appliesTo(condition, holds);
    if (name === "network" && isJsonObject(condition)) return appliesFrom(condition, holds);
    return holds(`${name} ${canonicalText(condition)}`);
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
  const isIn = included.length === 0 || included.some(holds);
  return isIn && !excluded.some(holds) && (isNothing(others) || holds(canonicalText(others)));
}

function appliesFrom({ connection, include, exclude }: JsonObject, holds: (fact: string) => boolean): boolean {
  const zones = (value: unknown) => (Array.isArray(value) ? value.map((id) => `zone ${JSON.stringify(id)}`) : []);
  if (connection !== "ZONE")
    return isNothing(connection) || connection === "ANYWHERE" || holds(`network ${JSON.stringify(connection)}`);
  const [ins, outs] = [zones(include), zones(exclude)];
  return (ins.length === 0 || ins.some(holds)) && !outs.some(holds);
}

/** The provider writes fields in another order. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === "ANY" || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.values(value).every(isNothing);
}

function isActive({ status }: JsonObject): boolean {
  return /^"active"$/i.test(JSON.stringify(status ?? "ACTIVE"));
}

/** The built-in rule is last. */
function byPlace(one: JsonObject, other: JsonObject): number {
  const place = (rule: JsonObject) =>
    rule["system"] === true || ["Default Rule", "Catch-all Rule"].includes(String(rule["name"]))
      ? Number.MAX_VALUE
      : Number(rule["priority"] ?? 0);
  return place(one) - place(other);
}

function objectIn(object: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((inner, name) => (isJsonObject(inner[name]) ? inner[name] : {}), object);
}
