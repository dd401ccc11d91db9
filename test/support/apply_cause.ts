import type { CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import { activityOf } from "../../scanner/checks/parsing/activity.ts";
import { isJsonObject } from "../../shared/json.ts";
import type { Cause } from "../../shared/report.ts";

/** JSON to change in place. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

/**
 * The evidence of an org in which somebody did exactly what a cause says, and nothing else. Null for a policy whose built-in
 * rule is not the only one and the last, as it is at Okta.
 */
export function applyCause(artifacts: CollectedArtifacts, cause: Cause): CollectedArtifacts | null {
  const org: Json = structuredClone(artifacts);
  const { type, id } = cause.object;
  const has = (part: string) => cause.checks.some((check) => check.includes(part));
  const sessions = valueOf(org.global_session_policies);
  const builtIn = [org.admin_console_app, org.dashboard_app].map(valueOf).flatMap((app) => (app ? [app] : []));
  const appRules: Json[][] = [
    ...Object.entries(valueOf(org.app_policy_rules) ?? {}),
    ...builtIn.map((app: Json) => [policyOf(app.app), app.rules] as const),
  ].map(([policy, rules]: readonly [unknown, Json]) => Object.assign(valueOf(rules) ?? [], { policy }));
  const ofSessions: Json[][] = (sessions ?? []).map(({ policy, rules }: Json) =>
    Object.assign(valueOf(rules) ?? [], { policy: policy?.id }),
  );
  const touched = [...ofSessions, ...appRules].filter((rules: Json) => rules.policy === id || rules.some(isOfId));
  if (touched.some(hasOddBuiltIn)) return null;
  if (type === "policy_rule") {
    for (const rules of ofSessions) changeSessionRule(rules);
    for (const rules of appRules) for (const rule of rules.filter(isOfId)) changeAppRule(rule);
  }
  if (type === "policy") {
    for (const rules of ofSessions.filter((list: Json) => list.policy === id)) changeSessionPolicy(rules);
    for (const rules of appRules.filter((list: Json) => list.policy === id)) changeAppPolicy(rules);
    for (const policy of (valueOf(org.password_policies) ?? []).filter(isOfId)) changePasswords(policy);
  }
  if (type === "app") {
    if (has("admin_console_session"))
      Object.assign(valueOf(org.admin_console_settings), { sessionIdleTimeoutMinutes: 15 });
    const apps = [...(valueOf(org.apps) ?? []), ...builtIn.map(({ app }: Json) => app)];
    for (const app of apps.filter(isOfId)) app._links = { accessPolicy: { href: "https://a/api/v1/policies/rstNew" } };
    const strict = {
      state: "obtained",
      value: [
        strictRule(),
        {
          ...strictRule(),
          name: "Catch-all Rule",
          system: true,
          priority: 9,
          actions: { appSignOn: { access: "DENY" } },
        },
      ],
    };
    if (valueOf(org.app_policy_rules)) valueOf(org.app_policy_rules).rstNew = strict;
    for (const found of builtIn.filter(({ app }: Json) => isOfId(app))) found.rules = strict;
  }
  if (type === "authenticator") {
    for (const found of (valueOf(org.authenticators) ?? []).filter(isOfId))
      Object.assign(
        found,
        { status: "ACTIVE" },
        has("okta_verify") && { settings: { compliance: { fips: "REQUIRED" } } },
      );
  }
  if (type === "api_token") {
    for (const token of (valueOf(org.api_tokens) ?? []).filter(isOfId)) {
      if (has("restricted")) token.network = { connection: "ZONE", include: [office()] };
      if (!has("not_super")) continue;
      token.userId = "00uNew";
      const nobody = { state: "obtained", value: [] };
      Object.assign(valueOf(org.api_token_owners), { "00uNew": { roles: nobody, groups: nobody } });
    }
  }
  return org;

  function isOfId(object: Json): boolean {
    return isJsonObject(object) && object["id"] === id;
  }

  /** A built-in rule cannot be what DISA asks for, so another one goes before it. */
  function changeSessionRule(rules: Json[]): void {
    for (const rule of rules.filter(isOfId)) {
      const hasLimits = ["idle_timeout", "lifetime", "cookies"].some(has);
      if (!hasLimits || !isBuiltInRule(rule)) changeSession(rule);
      else insertBefore(rules, rule);
    }
  }

  /** Directly before it, and after the rules that have its priority too. */
  function insertBefore(rules: Json[], like: Json): void {
    const others = rules.filter((rule) => isJsonObject(rule) && rule !== like);
    const isTied = others.some((rule) => isActive(rule) && !isBuiltInRule(rule) && rule.priority === like.priority);
    const priority = like.priority + Number(isTied);
    for (const rule of others) {
      const isLater = rule.priority > like.priority || (isBuiltInRule(rule) && rule.priority === like.priority);
      if (isLater) rule.priority += 2;
    }
    rules.unshift({ ...structuredClone(like), id: "rulNew", name: "New", system: false, status: "ACTIVE", priority });
    like.priority = priority + 1;
    changeSession(rules[0]);
  }

  /** No rule at priority 1, or several that tie: a rule that is strict in everything comes before them. */
  function changeSessionPolicy(rules: Json[]): void {
    for (const rule of rules)
      if (isJsonObject(rule) && typeof rule["priority"] === "number") (rule as Json).priority += 1;
    const session = { maxSessionIdleMinutes: 15, maxSessionLifetimeMinutes: 1080, usePersistentCookie: false };
    const network = { connection: "ZONE", include: [office()] };
    const actions = { signon: { access: "ALLOW", session } };
    rules.push({ id: "rulNew", name: "New", status: "ACTIVE", priority: 1, conditions: { network }, actions });
  }

  function changeSession(rule: Json): void {
    const session = () => inside(rule, "actions", "signon", "session");
    if (has("idle_timeout")) session().maxSessionIdleMinutes = 15;
    if (has("lifetime")) session().maxSessionLifetimeMinutes = 1080;
    if (has("cookies")) session().usePersistentCookie = false;
    if (has("network_zone"))
      rule.conditions = { ...rule.conditions, network: { connection: "ZONE", include: [office()] } };
  }

  function changeAppRule(rule: Json): void {
    const demanded = () => inside(rule, "actions", "appSignOn");
    if (has("mfa_required") || has("phishing_resistant")) demanded().verificationMethod = strictMethod;
    if (!has("network_zone")) return;
    if (isBuiltInRule(rule)) demanded().access = "DENY";
    else if (demanded().access !== "DENY")
      rule.conditions = { ...rule.conditions, network: { connection: "ZONE", include: [office()] } };
  }

  function changeAppPolicy(rules: Json[]): void {
    const active = rules.filter(isActive);
    if (active.length === 0) rules.push({ ...strictRule(), priority: 1 });
    else if (active.every(isBuiltInRule)) {
      const like = active.some((rule) => rule.actions?.appSignOn?.access === "DENY") ? strictRule() : active[0];
      const custom = { ...structuredClone(like), id: "rulNew", name: "New", system: false, priority: -1 };
      changeAppRule(custom);
      inside(custom, "actions", "appSignOn").access = "ALLOW";
      rules.push(custom);
    }
    for (const rule of active) changeAppRule(rule);
    if (has("network_zone") && !active.some(isBuiltInRule)) {
      const actions = { appSignOn: { access: "DENY" } };
      rules.push({ id: "rulLast", name: "Catch-all Rule", system: true, status: "ACTIVE", priority: 99, actions });
    }
  }

  function changePasswords(policy: Json): void {
    const put = (group: string, field: string, value: unknown) => {
      inside(policy, "settings", "password", group)[field] = value;
    };
    if (has("minimum_length")) put("complexity", "minLength", 15);
    if (has("uppercase")) put("complexity", "minUpperCase", 1);
    if (has("lowercase")) put("complexity", "minLowerCase", 1);
    if (has("complexity_number")) put("complexity", "minNumber", 1);
    if (has("symbol")) put("complexity", "minSymbol", 1);
    if (has("common_password")) put("complexity", "dictionary", { common: { exclude: true } });
    if (has("minimum_age")) put("age", "minAgeMinutes", 1440);
    if (has("maximum_age")) put("age", "maxAgeDays", 60);
    if (has("history")) put("age", "historyCount", 5);
    if (has("lockout")) put("lockout", "maxAttempts", 3);
  }

  /** The id of a zone of one network, which the org has from now on. */
  function office(): string {
    const zones = valueOf(org.network_zones);
    const gateways = [{ type: "CIDR", value: "192.0.2.0/24" }];
    const zone = { id: "nzoNew", name: "New", type: "IP", usage: "POLICY", status: "ACTIVE", gateways };
    if (zones && !zones.some((one: Json) => one?.id === zone.id)) zones.push(zone);
    return zone.id;
  }

  function strictRule(): Json {
    return {
      id: "rulStrict",
      name: "Strict",
      system: false,
      status: "ACTIVE",
      priority: 0,
      conditions: { network: { connection: "ZONE", include: [office()] } },
      actions: { appSignOn: { access: "ALLOW", verificationMethod: strictMethod } },
    };
  }
}

function isActive(rule: Json): boolean {
  return isJsonObject(rule) && activityOf(rule) !== "inactive";
}

function hasOddBuiltIn(rules: Json[]): boolean {
  const active = rules.filter(isActive);
  const [builtIn, ...more] = active.filter(isBuiltInRule);
  return more.length > 0 || active.some((rule) => builtIn !== undefined && rule.priority > builtIn.priority);
}

function isBuiltInRule({ system, name }: Json): boolean {
  return system === true || name === "Default Rule" || name === "Catch-all Rule";
}

const strictMethod = {
  type: "ASSURANCE",
  factorMode: "2FA",
  constraints: [{ possession: { phishingResistant: "REQUIRED" } }],
};

/** The object at a path, which is made where there is another value. */
function inside(object: Json, ...path: readonly string[]): Json {
  return path.reduce((inner, key) => {
    if (!isJsonObject(inner[key])) inner[key] = {};
    return inner[key];
  }, object);
}

/** What was obtained, or the part of it that was. */
function valueOf(evidence: Json): Json {
  return evidence?.state === "obtained" ? evidence.value : (evidence?.partial ?? null);
}

function policyOf(app: Json): unknown {
  return /policies\/([\w-]+)/.exec(JSON.stringify(app?._links ?? null))?.[1];
}
