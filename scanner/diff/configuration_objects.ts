import type { ArtifactName, CollectedArtifacts, Evidence, JsonList } from "../evidence/artifacts.ts";
import { resourceOf } from "../checks/parsing/names.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/** One object of the provider as the artifacts hold it. */
export interface ConfigurationObject {
  readonly type: string;
  readonly id: string;
  /** A rule is named with its policy. */
  readonly name: string;
  readonly value: JsonObject;
}

/** Objects that were obtained together: an artifact's list, or the rules of one policy. */
export interface ObjectList {
  readonly id: string;
  readonly name: string;
  /** `obtained`, `not_collected`, or the reason why the list is not whole: then it holds none. */
  readonly state: string;
  readonly objects: readonly ConfigurationObject[];
}

export function objectLists(artifacts: CollectedArtifacts): readonly ObjectList[] {
  return [
    ...policies(artifacts, "global_session_policies"),
    list("password_policies", artifacts.password_policies, (found) => ofType("policy", found)),
    ...policies(artifacts, "user_lifecycle_policies"),
    // Before the other apps: their rules are then named after them.
    ...builtInApp(artifacts, "admin_console_app"),
    ...builtInApp(artifacts, "dashboard_app"),
    list("apps", artifacts.apps, (found) => ofType("app", found)),
    list("app_policy_rules", artifacts.app_policy_rules, () => []),
    ...Object.entries(valueOf(artifacts.app_policy_rules) ?? {}).map(([id, rules]) =>
      rulesOf("app_policy_rules", { id, name: `access policy ${id}` }, rules),
    ),
    list("access_policies", artifacts.access_policies, (found) => ofType("policy", found)),
    list("admin_console_settings", artifacts.admin_console_settings, (settings) => [
      { type: "settings", id: "admin-console", name: "Okta Admin Console", value: settings },
    ]),
    list("authenticators", artifacts.authenticators, (found) => ofType("authenticator", found)),
    list("brand_sign_in_pages", artifacts.brand_sign_in_pages, (found) =>
      ofType(
        "brand",
        found.map(({ brand }) => brand),
      ),
    ),
    ...(valueOf(artifacts.brand_sign_in_pages) ?? []).map(({ brand, page }) => {
      const { id, name } = resourceOf("brand", brand);
      return list(`brand_sign_in_pages/${id}`, page, (value) => [
        { type: "sign_in_page", id, name, value: asObject(value) },
      ]);
    }),
    list("network_zones", artifacts.network_zones, (found) => ofType("zone", found)),
    list("api_tokens", artifacts.api_tokens, (found) => ofType("api_token", found)),
    list("api_token_owners", artifacts.api_token_owners, (owners) =>
      Object.entries(owners).map(([id, owner]) => ({ type: "api_token_owner", id, name: id, value: asObject(owner) })),
    ),
    list("automation_groups", artifacts.automation_groups, (found) => ofType("group", found)),
    list("built_in_groups", artifacts.built_in_groups, (found) => ofType("group", found)),
    list("log_streams", artifacts.log_streams, (found) => ofType("log_stream", found)),
    list("saml_idps", artifacts.saml_idps, (found) => ofType("identity_provider", found)),
    list("smart_card_idps", artifacts.smart_card_idps, (found) =>
      found.map((item) => ({ ...resourceOf("identity_provider", item.idp), value: asObject(item) })),
    ),
  ];
}

function list<Value>(
  name: ArtifactName | `brand_sign_in_pages/${string}`,
  evidence: Evidence<Value> | undefined,
  read: (value: Value) => readonly ConfigurationObject[],
): ObjectList {
  if (evidence === undefined) return { id: name, name, state: "not_collected", objects: [] };
  if (evidence.state === "missing") return { id: name, name, state: evidence.reason, objects: [] };
  return { id: name, name, state: evidence.state, objects: read(evidence.value) };
}

function policies(
  artifacts: CollectedArtifacts,
  name: "global_session_policies" | "user_lifecycle_policies",
): readonly ObjectList[] {
  const found = artifacts[name];
  return [
    list(name, found, (items) =>
      ofType(
        "policy",
        items.map(({ policy }) => policy),
      ),
    ),
    // The rules of an inactive policy were not requested.
    ...(valueOf(found) ?? []).flatMap(({ policy, rules }) =>
      rules === null ? [] : [rulesOf(name, resourceOf("policy", policy), rules)],
    ),
  ];
}

function builtInApp(artifacts: CollectedArtifacts, name: "admin_console_app" | "dashboard_app"): readonly ObjectList[] {
  const found = artifacts[name];
  const { app = null, rules = null } = valueOf(found) ?? {};
  const shown = list(name, found, () => (app === null ? [] : ofType("app", [app])));
  return [
    // A role that is not shown the app does not say that it is gone.
    app === null && shown.state === "obtained" ? { ...shown, state: "missing_role" } : shown,
    ...(app === null || rules === null ? [] : [rulesOf(name, resourceOf("app", app), rules)]),
  ];
}

function rulesOf(
  artifact: ArtifactName,
  parent: { readonly id: string; readonly name: string },
  rules: Evidence<JsonList>,
): ObjectList {
  const about = { id: `${artifact}/${parent.id}`, name: `${artifact}/${parent.name}` };
  if (rules.state === "missing") return { ...about, state: rules.reason, objects: [] };
  const objects = ofType("rule", rules.value).map((rule) => ({ ...rule, name: `${parent.name} / ${rule.name}` }));
  return { ...about, state: "obtained", objects };
}

function ofType(type: string, found: JsonList): readonly ConfigurationObject[] {
  return found.map((value) => ({ ...resourceOf(type, value), value }));
}

function valueOf<Value>(evidence: Evidence<Value> | undefined): Value | null {
  return evidence?.state === "obtained" ? evidence.value : null;
}

/** The object itself, not a copy: what reads it is found by its identity. */
function asObject(value: object): JsonObject {
  if (isJsonObject(value)) return value;
  throw new TypeError("Cannot compare an artifact: it holds a list where an object is expected");
}
