import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { FixPlan } from "../../scanner/fix/plan_fixes.ts";
import type { TerraformResource, Value } from "../../scanner/fix/terraform.ts";
import type { OrgAnswers } from "../verdicts/generated_orgs.ts";
import { set } from "./artifact_builders.ts";
import { paths } from "./compliant_org.ts";

/**
 * The organization after a plan was applied: a replay of what the plan says, by the names of the provider's attributes. An
 * imported object keeps every field that the plan does not set. Throws for an attribute that nobody expects in a plan.
 */
export function applyPlan(org: OrgAnswers, { resources, variables }: FixPlan): OrgAnswers {
  const given = new Map<string, unknown>(
    variables.map(({ name, type, description }) => [
      `var.${name}`,
      type === "string" ? "aws_eventbridge" : [/ is (\S+?)[.,]/.exec(description)?.[1] ?? ""],
    ]),
  );
  return resources.reduce<OrgAnswers>((applied, resource) => applyResource(applied, resource, given), org);
}

/** The attributes that a plan may set of an object that the org has, and the field of each. */
const settable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  okta_policy_rule_signon: {
    session_idle: "actions.signon.session.maxSessionIdleMinutes",
    session_lifetime: "actions.signon.session.maxSessionLifetimeMinutes",
    session_persistent: "actions.signon.session.usePersistentCookie",
    risk_level: "conditions.riskScore.level",
  },
  okta_app_signon_policy_rule: {
    factor_mode: "actions.appSignOn.verificationMethod.factorMode",
    constraints: "actions.appSignOn.verificationMethod.constraints",
  },
  okta_policy_password: {
    password_min_length: "settings.password.complexity.minLength",
    password_min_lowercase: "settings.password.complexity.minLowerCase",
    password_min_uppercase: "settings.password.complexity.minUpperCase",
    password_min_number: "settings.password.complexity.minNumber",
    password_min_symbol: "settings.password.complexity.minSymbol",
    password_dictionary_lookup: "settings.password.complexity.dictionary.common.exclude",
    password_max_age_days: "settings.password.age.maxAgeDays",
    password_min_age_minutes: "settings.password.age.minAgeMinutes",
    password_history_count: "settings.password.age.historyCount",
    password_max_lockout_attempts: "settings.password.lockout.maxAttempts",
  },
  okta_authenticator: { settings: "settings" },
  okta_network_zone: { status: "status" },
  okta_api_token: {
    "network.connection": "network.connection",
    "network.include": "network.include",
    "network.exclude": "network.exclude",
  },
  okta_log_stream: { status: "status" },
  okta_customized_signin_page: { page_content: "pageContent" },
};

/** These stand in a configuration and change nothing: Terraform ignores them, or they are the id. */
const required: Readonly<Record<string, readonly string[]>> = {
  okta_policy_rule_signon: ["policy_id", "name"],
  okta_app_signon_policy_rule: ["policy_id", "name"],
  okta_policy_password: ["name"],
  okta_authenticator: ["key", "name"],
  okta_network_zone: ["name", "type"],
  okta_api_token: ["id"],
  okta_log_stream: ["name", "type"],
  okta_customized_signin_page: ["brand_id", "widget_customizations.widget_generation"],
};

function applyResource(org: OrgAnswers, resource: TerraformResource, given: ReadonlyMap<string, unknown>): OrgAnswers {
  const type = resource.type.replace(/_default$/, "");
  const valueOf = (name: string) => plain(resource.attributes.get(name)?.value, given);
  const id = resource.importId?.split("/").at(-1);
  const path = pathOf(type, String(valueOf("policy_id")), String(valueOf("brand_id")));
  if (id === undefined) return { ...org, [path]: withNew(org[path], type, valueOf) };
  const change = (object: JsonObject) =>
    [...resource.attributes.keys()].reduce((changed, name) => {
      const field = settable[type]?.[name];
      if (field !== undefined) return set(changed, field, valueOf(name));
      if (required[type]?.includes(name) === true) return changed;
      throw new Error(`${resource.type} sets ${name} of an object that the org has`);
    }, object);
  const found = org[path];
  const isOne = (object: JsonObject) => object["id"] === id || (id === "." && object["name"] === "Default Policy");
  if (!Array.isArray(found)) return { ...org, [path]: change(isJsonObject(found) ? found : {}) };
  return {
    ...org,
    [path]: found.map((object: unknown) => (isJsonObject(object) && isOne(object) ? change(object) : object)),
  };
}

function pathOf(type: string, policyId: string, brandId: string): string {
  if (type.includes("signon")) return `/api/v1/policies/${policyId}/rules`;
  const lists: Readonly<Record<string, string>> = {
    okta_policy_password: paths.password,
    okta_authenticator: paths.authenticators,
    okta_network_zone: paths.zones,
    okta_api_token: paths.tokens,
    okta_log_stream: paths.logStreams,
    okta_customized_signin_page: `/api/v1/brands/${brandId}/pages/sign-in/customized`,
  };
  return lists[type] ?? "";
}

/** A new session rule pushes those at its priority and after it back. */
function withNew(found: unknown, type: string, valueOf: (name: string) => unknown): unknown {
  const list: readonly unknown[] = Array.isArray(found) ? found : [];
  const named = { id: `new-${type}`, name: valueOf("name"), status: valueOf("status") };
  if (type === "okta_customized_signin_page") return { pageContent: valueOf("page_content") };
  if (type === "okta_network_zone") {
    const include = valueOf("ip_service_categories_include");
    return [...list, { ...named, type: valueOf("type"), usage: valueOf("usage"), ipServiceCategories: { include } }];
  }
  if (type === "okta_log_stream") return [...list, { ...named, type: valueOf("type") }];
  if (type !== "okta_policy_rule_signon") throw new Error(`${type} is new`);
  const priority = Number(valueOf("priority"));
  const rule = {
    ...named,
    system: false,
    priority,
    conditions: { network: { connection: "ANYWHERE" } },
    actions: {
      signon: {
        access: valueOf("access") ?? "ALLOW",
        requireFactor: valueOf("mfa_required") ?? false,
        factorPromptMode: valueOf("mfa_prompt"),
        factorLifetime: valueOf("mfa_lifetime"),
        rememberDeviceByDefault: valueOf("mfa_remember_device") ?? false,
        primaryFactor: valueOf("primary_factor"),
        session: {
          maxSessionIdleMinutes: valueOf("session_idle"),
          maxSessionLifetimeMinutes: valueOf("session_lifetime"),
          usePersistentCookie: valueOf("session_persistent"),
        },
      },
    },
  };
  const pushed = list.filter(isJsonObject).map((other) => {
    const place = other["priority"];
    return typeof place === "number" && place >= priority ? { ...other, priority: place + 1 } : other;
  });
  return [...pushed, rule];
}

function plain(value: Value | undefined, given: ReadonlyMap<string, unknown>): unknown {
  if (typeof value !== "object") return value;
  if (!("kind" in value)) return value.map((item) => plain(item, given));
  if (value.kind === "reference") return given.get(value.to);
  return value.kind === "json" ? value.value : value.text;
}
