import { expect, test } from "vitest";
import type { CollectedArtifacts, JsonList } from "../../scanner/evidence/artifacts.ts";
import type { FixPlan } from "../../scanner/fix/plan_draft.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import type { TerraformResource } from "../../scanner/fix/terraform.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { createOrgGenerator } from "../support/generated_orgs.ts";
import { createRandom } from "../support/random.ts";
import { scanOrg } from "../support/table_provider.ts";
import { fuzzed } from "./fuzzed.ts";

/** `npm run fuzz:fixes` tries 10,000. */
const orgs = Number(process.env["FUZZ_ORGS"] ?? 400);
const signInsOfPolicy = 40;

/**
 * Who may do what, evaluated sign-in by sign-in and without the model that the planner proves its plans with: two readings
 * of Okta's order of evaluation that have to agree.
 */
test(
  "a plan lets nobody in who was kept out, weakens nothing, and names whom it keeps out",
  { timeout: 60_000 + orgs * 100 },
  async () => {
    const random = createRandom(fuzzed(orgs).seed);
    const generate = createOrgGenerator(random);
    const problems = new Set<string>();
    let changed = 0;
    for (let number = 0; number < orgs; number += 1) {
      const { results, artifacts } = await scanOrg(generate());
      const plan = planFixes(results, artifacts);
      const failing = new Set(results.filter(({ status }) => status !== "PASS").map(({ check }) => check));
      for (const { check } of plan.fixed) {
        if (!failing.has(check)) problems.add(`${check} is fixed and did not fail`);
      }
      for (const policy of policiesOf(artifacts)) {
        const planned = plan.resources.filter(({ attributes }) => attributes.get("policy_id")?.value === policy.id);
        if (planned.length === 0) continue;
        changed += 1;
        const zones = artifacts.network_zones?.state === "obtained" ? artifacts.network_zones.value : [];
        const everywhere = new Set(zones.filter(isEverywhere).map(({ id }) => `zone ${JSON.stringify(id)}`));
        for (const problem of problemsOf(policy, planned, { plan, everywhere, random })) problems.add(problem);
      }
    }
    expect(changed).toBeGreaterThan(orgs / 10);
    expect([...problems]).toEqual([]);
  },
);

interface Policy {
  readonly id: string;
  readonly rules: JsonList;
}

function policiesOf(artifacts: CollectedArtifacts): readonly Policy[] {
  const sessions = artifacts.global_session_policies;
  const apps = artifacts.app_policy_rules;
  const builtIn = [artifacts.admin_console_app, artifacts.dashboard_app];
  const found = new Map<string, JsonList>();
  for (const { policy, rules } of sessions?.state === "obtained" ? sessions.value : []) {
    if (rules?.state === "obtained") found.set(String(policy["id"]), rules.value);
  }
  for (const [id, rules] of Object.entries(apps?.state === "obtained" ? apps.value : {})) {
    if (rules.state === "obtained") found.set(id, rules.value);
  }
  for (const app of builtIn) {
    if (app?.state !== "obtained" || app.value.rules?.state !== "obtained") continue;
    const href = JSON.stringify(app.value.app?.["_links"] ?? null);
    const id = /policies\/(\w+)/.exec(href)?.[1];
    if (id !== undefined && !found.has(id)) found.set(id, app.value.rules.value);
  }
  return [...found].map(([id, rules]) => ({ id, rules }));
}

/** A rule by what this test knows of it. */
interface Rule {
  readonly place: number;
  readonly isActive: boolean;
  readonly isDenying: boolean;
  readonly conditions: JsonObject;
  readonly isTwoFactors: boolean;
  readonly isPhishingResistant: boolean;
  readonly idleMinutes: number;
}

function problemsOf(
  policy: Policy,
  planned: readonly TerraformResource[],
  { plan, everywhere, random }: { plan: FixPlan; everywhere: ReadonlySet<string>; random: () => number },
): readonly string[] {
  const before = policy.rules.filter(isJsonObject).map(ruleOf).toSorted(byPlace);
  const after = rulesAfter(policy.rules, planned).map(ruleOf).toSorted(byPlace);
  const isNamed = plan.losses.some(({ of }) => of === policy.id);
  const problems: string[] = [];
  for (let number = 0; number < signInsOfPolicy; number += 1) {
    const facts = new Map<string, boolean>();
    const odds = random();
    // The same fact has the same answer before and after.
    const holds = (fact: string) =>
      everywhere.has(fact) || (facts.get(fact) ?? (facts.set(fact, random() < odds), facts.get(fact) === true));
    const [was, is] = [decide(before, holds), decide(after, holds)];
    const where = `policy ${policy.id}, ${JSON.stringify([...facts])}`;
    if (is === null) {
      if (was !== null && !isNamed) problems.push(`${where}: denied afterwards, and not named`);
    } else if (was === null) problems.push(`${where}: let in`);
    else if (was.isTwoFactors && !is.isTwoFactors) problems.push(`${where}: one factor in place of two`);
    else if (was.isPhishingResistant && !is.isPhishingResistant) problems.push(`${where}: a phished factor is enough`);
    else if (was.idleMinutes < is.idleMinutes) problems.push(`${where}: a longer session`);
  }
  return problems;
}

function isEverywhere(zone: JsonObject): boolean {
  // The IPv6 addresses have all of IPv4 among them.
  return zone["status"] === "ACTIVE" && /"::\/0"/.test(JSON.stringify(zone["gateways"] ?? null));
}

/** The rule that lets in; null where nobody is let in. */
function decide(rules: readonly Rule[], holds: (fact: string) => boolean): Rule | null {
  const found = rules.find(({ isActive, conditions }) => isActive && applies(conditions, holds));
  return found === undefined || found.isDenying ? null : found;
}

function applies(conditions: JsonObject, holds: (fact: string) => boolean): boolean {
  return Object.entries(conditions).every(([name, condition]) => {
    if (!isJsonObject(condition))
      return condition === null || condition === undefined || holds(`${name} ${JSON.stringify(condition)}`);
    if (name === "people") return appliesTo(condition, holds);
    if (name === "network") return appliesFrom(condition, holds);
    return isNothing(condition) || holds(`${name} ${JSON.stringify(condition)}`);
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

/** The rules as the resources leave them, by the names of the provider's attributes. */
function rulesAfter(rules: JsonList, planned: readonly TerraformResource[]): readonly JsonObject[] {
  const isNew = (resource: TerraformResource) => resource.importId === null;
  const kept = rules.filter(isJsonObject).map((rule) => {
    const resource = planned.find(({ importId }) => importId?.endsWith(`/${String(rule["id"])}`));
    return resource === undefined ? rule : written(rule, resource);
  });
  return planned.filter(isNew).reduce<readonly JsonObject[]>((list, resource) => {
    const made = written({ conditions: {}, actions: {} }, resource);
    const pushed = list.map((rule) =>
      Number(rule["priority"]) >= Number(made["priority"]) && rule["system"] !== true
        ? { ...rule, priority: Number(rule["priority"]) + 1 }
        : rule,
    );
    return [...pushed, made];
  }, kept);
}

function written(rule: JsonObject, { attributes }: TerraformResource): JsonObject {
  const of = (name: string) => attributes.get(name)?.value;
  const conditions = isJsonObject(rule["conditions"]) ? rule["conditions"] : {};
  const network = {
    connection: of("network_connection") ?? "ANYWHERE",
    include: of("network_includes"),
    exclude: of("network_excludes"),
  };
  return {
    ...rule,
    priority: of("priority") ?? rule["priority"],
    status: of("status") ?? rule["status"],
    conditions: { ...conditions, network },
    planned: Object.fromEntries([...attributes].map(([name, { value }]) => [name, value])),
  };
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
