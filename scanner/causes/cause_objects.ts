import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { CauseType } from "../../shared/vocabulary.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { isUsableId } from "../checks/parsing/ids.ts";
import { listTexts, nameOf } from "../checks/parsing/names.ts";
import { isBuiltIn } from "../checks/parsing/rule_order.ts";
import { availableValue, type CollectedArtifacts, type Evidence, type JsonList } from "../evidence/artifacts.ts";

export interface OrgObject {
  readonly type: CauseType;
  readonly id: string;
  readonly name: string;
  /** Place where a person finds it, in words: `rule "Everybody" of the global session policy "Default Policy"`. */
  readonly where: string;
  /** True when Okta made it, so that a rule cannot be changed in every respect. */
  readonly isBuiltIn: boolean;
}

/**
 * Every object in the evidence that can be a cause, also where a list broke off. Objects without a usable id are left out,
 * and apps and their policies where nobody asks for them: an org may have tens of thousands.
 */
export function orgObjects(
  artifacts: CollectedArtifacts,
  { withApps }: { readonly withApps: boolean },
): readonly OrgObject[] {
  const { global_session_policies: sessions, password_policies: passwords } = artifacts;
  return [
    ...listed(sessions).flatMap(({ policy, rules }) => {
      const where = `the global session policy "${nameOf(policy)}"`;
      return [...objectOf("policy", policy, where), ...rulesIn(rules, where)];
    }),
    ...listed(passwords).flatMap((policy) => objectOf("policy", policy, `the password policy "${nameOf(policy)}"`)),
    ...(withApps ? appPolicies(artifacts) : []),
    ...(withApps ? appsIn(artifacts) : []).flatMap((app) => objectOf("app", app, `the app "${nameOf(app)}"`)),
    ...listed(artifacts.network_zones).flatMap((zone) => objectOf("zone", zone, `the zone "${nameOf(zone)}"`)),
    ...listed(artifacts.authenticators).flatMap((one) =>
      objectOf("authenticator", one, `the authenticator "${nameOf(one)}"`),
    ),
    ...listed(artifacts.brand_sign_in_pages).flatMap(({ brand }) =>
      isJsonObject(brand) ? objectOf("brand", brand, `the brand "${nameOf(brand)}"`) : [],
    ),
    ...listed(artifacts.api_tokens).flatMap((token) =>
      objectOf("api_token", token, `the API token "${nameOf(token)}"`),
    ),
  ];
}

/** Authentication policies, which the evidence knows by their id, their rules and their apps. */
function appPolicies(artifacts: CollectedArtifacts): readonly OrgObject[] {
  const { app_policy_rules: byId, admin_console_app: console, dashboard_app: dashboard } = artifacts;
  const rules = new Map<string, Evidence<JsonList> | null>();
  for (const evidence of [console, dashboard]) {
    const found = evidence === undefined ? null : availableValue(evidence);
    const id = found === null || found.app === null ? null : accessPolicyId(found.app);
    if (typeof id === "string") rules.set(id, found?.rules ?? null);
  }
  for (const [id, found] of Object.entries((byId === undefined ? null : availableValue(byId)) ?? {}))
    rules.set(id, found);
  const apps = Map.groupBy(appsIn(artifacts), accessPolicyId);
  return [...rules].flatMap(([id, found]) => {
    const names = [...new Set((apps.get(id) ?? []).map((app) => `"${nameOf(app)}"`))];
    const name = names.length === 0 ? id : `Authentication policy of ${listTexts(names)}`;
    const where =
      names.length === 0 ? `the authentication policy ${id}` : `the authentication policy of ${listTexts(names)}`;
    return [{ type: "policy", id, name, where, isBuiltIn: false } as const, ...rulesIn(found, where)];
  });
}

function appsIn({ apps, admin_console_app: console, dashboard_app: dashboard }: CollectedArtifacts): JsonList {
  const builtIn = [console, dashboard].flatMap((evidence) => {
    const app = evidence === undefined ? null : (availableValue(evidence)?.app ?? null);
    return app === null ? [] : [app];
  });
  const byId = new Map([...builtIn, ...listed(apps)].map((app) => [app["id"], app]));
  return [...byId.values()].filter((app) => activityOf(app) !== "inactive");
}

function rulesIn(rules: Evidence<JsonList> | null, policy: string): readonly OrgObject[] {
  return rules === null
    ? []
    : listed(rules).flatMap((rule) => objectOf("policy_rule", rule, `rule "${nameOf(rule)}" of ${policy}`));
}

function objectOf(type: CauseType, object: JsonObject, where: string): readonly OrgObject[] {
  const { id } = object;
  if (!isUsableId(id)) return [];
  return [{ type, id, name: nameOf(object), where, isBuiltIn: isBuiltIn(object) === true }];
}

function listed<Item>(evidence: Evidence<readonly Item[]> | undefined): readonly Item[] {
  return evidence === undefined ? [] : (availableValue(evidence) ?? []);
}
