import { groupId } from "./people_objects.ts";
import { defaultPolicy, policyWithRules, type PolicySpec, type RuleSpec } from "./policy_objects.ts";
import { zoneId } from "./zone_objects.ts";
import type { PolicyWithRules, Site } from "./org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

export interface SessionRule {
  readonly name: string;
  readonly priority: number;
  readonly idleMinutes: number;
  readonly lifetimeMinutes: number;
  readonly persistentCookie: boolean;
  readonly network: JsonObject;
  readonly access?: "ALLOW" | "DENY";
}

export interface SignOnPolicySpec extends Omit<PolicySpec, "type" | "conditions" | "fields"> {
  readonly groupIds: readonly string[];
}

export const anywhere: JsonObject = { connection: "ANYWHERE" };

/** Traffic from these zones only. */
export function fromZones(...zoneIds: readonly string[]): JsonObject {
  return { connection: "ZONE", include: zoneIds };
}

/** Traffic from everywhere but these zones. */
export function allBut(...names: readonly string[]): JsonObject {
  return { connection: "ZONE", exclude: names.map(zoneId) };
}

/** A rule of any policy that is for the people of one group. */
export function forGroup(rule: RuleSpec, group: string): RuleSpec {
  return withCondition(rule, { people: { groups: { include: [groupId(group)] } } });
}

export function onManagedDevices(rule: RuleSpec): RuleSpec {
  return withCondition(rule, { device: { registered: true, managed: true } });
}

export function atHighRisk(rule: RuleSpec): RuleSpec {
  return withCondition(rule, { riskScore: { level: "HIGH" } });
}

function withCondition(rule: RuleSpec, condition: JsonObject): RuleSpec {
  return { ...rule, conditions: { ...rule.conditions, ...condition } };
}

export function signOnPolicy(site: Site, spec: SignOnPolicySpec): PolicyWithRules {
  return policyWithRules(site, {
    ...spec,
    type: "OKTA_SIGN_ON",
    conditions: { people: { groups: { include: spec.groupIds } } },
  });
}

/** For users to whom no other policy applies; every org has one. */
export function defaultSignOnPolicy(site: Site, priority: number, rules: readonly RuleSpec[]): PolicyWithRules {
  return signOnPolicy(site, { ...defaultPolicy, priority, groupIds: [groupId("Everyone")], rules });
}

export function sessionRule(rule: SessionRule): RuleSpec {
  return {
    name: rule.name,
    priority: rule.priority,
    conditions: ruleConditions(rule.network),
    actions: signOnActions(rule),
  };
}

/** Initial rule of every org: two hours idle, no limit on the lifetime, from anywhere. */
export function defaultSessionRule(priority: number): RuleSpec {
  return {
    name: "Default Rule",
    priority,
    system: true,
    conditions: ruleConditions(anywhere),
    actions: signOnActions({ idleMinutes: 120, lifetimeMinutes: 0, persistentCookie: false }),
  };
}

function ruleConditions(network: JsonObject): JsonObject {
  return {
    people: { users: { exclude: [] } },
    network,
    authContext: { authType: "ANY" },
    risk: { behaviors: [] },
    riskScore: { level: "ANY" },
    identityProvider: { provider: "ANY" },
  };
}

function signOnActions({
  access = "ALLOW",
  idleMinutes,
  lifetimeMinutes,
  persistentCookie,
}: Pick<SessionRule, "access" | "idleMinutes" | "lifetimeMinutes" | "persistentCookie">): JsonObject {
  return {
    signon: {
      access,
      requireFactor: false,
      primaryFactor: "PASSWORD_IDP_ANY_FACTOR",
      rememberDeviceByDefault: false,
      session: {
        usePersistentCookie: persistentCookie,
        maxSessionIdleMinutes: idleMinutes,
        maxSessionLifetimeMinutes: lifetimeMinutes,
      },
    },
  };
}
