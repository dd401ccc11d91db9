import type { JsonObject } from "../../shared/json.ts";
import { lifecycleLink, link, oktaId } from "./ids_and_links.ts";
import type { Policy, PolicyWithRules, Resource, Site } from "./org_contents.ts";

const created = "2025-06-26T15:51:39.000Z";
const lastUpdated = "2026-03-22T09:16:18.000Z";

export interface PolicySpec {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly priority: number;
  readonly status?: string;
  readonly system?: boolean;
  readonly conditions: JsonObject | null;
  /** Fields of this type of policy only, such as `settings`. */
  readonly fields?: JsonObject;
  readonly rules: readonly RuleSpec[];
}

export interface RuleSpec {
  readonly name: string;
  readonly priority: number;
  readonly status?: string;
  readonly system?: boolean;
  readonly conditions: JsonObject | null;
  readonly actions: JsonObject;
}

const idPrefixes: Readonly<Record<string, string>> = { ACCESS_POLICY: "rst", USER_LIFECYCLE: "rst" };
const ruleIdPrefixes: Readonly<Record<string, string>> = { ACCESS_POLICY: "rul", USER_LIFECYCLE: "rul" };

export const defaultPolicy = {
  name: "Default Policy",
  description: "The default policy applies in all situations if no other policy applies.",
  system: true,
} as const;

export function policyId(type: string, name: string): string {
  return oktaId(idPrefixes[type] ?? "00p", `${type} ${name}`);
}

/** The policies of an org, of which those with the same type and name are replaced. */
export function withPolicies(
  policies: readonly PolicyWithRules[],
  others: readonly PolicyWithRules[],
): readonly PolicyWithRules[] {
  const replaced = new Set(others.map(({ policy }) => policy.id));
  return [...policies.filter(({ policy }) => !replaced.has(policy.id)), ...others];
}

/** Field order and links as recorded: a system policy has no mappings, and can be neither deleted nor deactivated. */
export function policyWithRules(site: Site, spec: PolicySpec): PolicyWithRules {
  const id = policyId(spec.type, spec.name);
  const href = `${site.url}/api/v1/policies/${id}`;
  const status = spec.status ?? "ACTIVE";
  const system = spec.system ?? false;
  const policy: Policy = {
    id,
    status,
    name: spec.name,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    priority: spec.priority,
    system,
    conditions: spec.conditions,
    created,
    lastUpdated,
    ...spec.fields,
    _links: {
      ...(system ? {} : { mappings: link(`${href}/mappings`, "GET", "POST") }),
      self: system ? link(href, "GET", "PUT") : link(href, "GET", "PUT", "DELETE"),
      rules: link(`${href}/rules`, "GET", "POST"),
      ...(system ? {} : lifecycleLink(href, status)),
    },
    ...(spec.type === "ACCESS_POLICY" ? { _embedded: { resourceType: "APP" } } : {}),
    type: spec.type,
  };
  return { policy, rules: spec.rules.map((rule) => ruleObject(href, spec, rule)) };
}

function ruleObject(policyHref: string, policy: PolicySpec, rule: RuleSpec): Resource {
  const id = oktaId(ruleIdPrefixes[policy.type] ?? "0pr", `${policy.type} ${policy.name} ${rule.name}`);
  const href = `${policyHref}/rules/${id}`;
  const status = rule.status ?? "ACTIVE";
  const system = rule.system ?? false;
  return {
    id,
    status,
    name: rule.name,
    priority: rule.priority,
    created,
    lastUpdated,
    system,
    conditions: rule.conditions,
    actions: rule.actions,
    _links: {
      self: system ? link(href, "GET", "PUT") : link(href, "GET", "PUT", "DELETE"),
      ...(system ? {} : lifecycleLink(href, status)),
    },
    // The rules of sign-on policies carry a type of their own.
    type: policy.type === "OKTA_SIGN_ON" ? "SIGN_ON" : policy.type,
  };
}

export interface AutomationSpec {
  readonly name: string;
  readonly status: "ACTIVE" | "INACTIVE";
  readonly inactiveDays: number;
  readonly groupIds: readonly string[];
}

/**
 * An automation of the Admin Console. The API does not document them: condition on the policy, action on the rule, as seen
 * on live orgs.
 */
export function automation(site: Site, spec: AutomationSpec): PolicyWithRules {
  return policyWithRules(site, {
    type: "USER_LIFECYCLE",
    name: spec.name,
    priority: 1,
    status: spec.status,
    conditions: {
      people: {
        users: { inactivity: { number: spec.inactiveDays, unit: "DAYS" } },
        groups: { include: spec.groupIds },
      },
    },
    rules: [
      {
        name: spec.name,
        priority: 1,
        conditions: null,
        actions: { updateUserLifecycle: { targetStatus: "SUSPENDED" } },
      },
    ],
  });
}
