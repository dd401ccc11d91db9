import type { JsonObject } from "../../../shared/json.ts";
import {
  availableValue,
  missing,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
} from "../../evidence/artifacts.ts";
import { isBuiltIn } from "../../checks/parsing/rule_order.ts";
import { isZoneOfEverybody, readZones, type Zones } from "../../checks/evaluating/zones.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { listTexts, nameOf } from "../../checks/parsing/names.ts";
import { everyoneIn } from "../../checks/parsing/rule_conditions.ts";
import { appRuleSources, keepSignedInSources } from "./app_rule_fields.ts";
import { sessionRuleSources } from "./session_rule_fields.ts";
import { idOf, listed, type Loss } from "../plan_draft.ts";
import type { ResourceDraft, TerraformResource } from "../terraform.ts";
import { writeWhole } from "../whole_objects.ts";
import { createAccessModel, type ModelContext } from "./access_model.ts";
import { conditionsOf, type Fact } from "./conditions.ts";
import { compareAccess, type AccessChange, type LostAccess } from "./compare_access.ts";

/** The two kinds of policies whose rules a plan may change. */
export type PolicyKind = "app" | "session";

const ruleTypes: Readonly<Record<PolicyKind, string>> = {
  app: "okta_app_signon_policy_rule",
  session: "okta_policy_rule_signon",
};

const accessPaths = { app: "actions.appSignOn.access", session: "actions.signon.access" } as const;

export interface PolicyOf {
  readonly kind: PolicyKind;
  readonly policyId: string;
}

export type Planned = Pick<TerraformResource | ResourceDraft, "type" | "importId" | "attributes" | "blocks">;

/** What the rules that are planned for a policy do to its people. */
export function changeOf(artifacts: CollectedArtifacts, of: PolicyOf, resources: readonly Planned[]): AccessChange {
  const rules = rulesOf(artifacts, of.kind, of.policyId);
  const after = plannedRules(artifacts, of, resources);
  if (rules === null || after === null) return { kind: "violation", why: "not all rules of the policy could be read" };
  const context = contextOf(artifacts, of.kind);
  return compareAccess(createAccessModel(rules, context), createAccessModel(after, context));
}

/** The rules of a policy as they are after the plan; null where some of them may be missing. */
export function plannedRules(
  artifacts: CollectedArtifacts,
  { kind, policyId }: PolicyOf,
  resources: readonly Planned[],
): JsonList | null {
  const rules = rulesOf(artifacts, kind, policyId);
  const planned = resources.filter(
    ({ type, attributes }) => type === ruleTypes[kind] && attributes.get("policy_id")?.value === policyId,
  );
  return rules === null ? null : planRules(rules, planned, kind);
}

/** The sentence about those who lose access by a policy. */
export function lossOf(
  artifacts: CollectedArtifacts,
  { kind, policyId, lost }: { readonly kind: PolicyKind; readonly policyId: string; readonly lost: LostAccess },
): Loss {
  const zones = zonesIn(artifacts);
  const parts = [
    ...lost.within.map((fact) => wordsOf(fact, true, zones)),
    ...lost.outside.map((fact) => wordsOf(fact, false, zones)),
  ];
  const who = parts.length === 0 ? "Everybody" : `Everybody who signs in ${parts.join(" and ")}`;
  const groups = groupsOf(artifacts, kind, policyId);
  const ofGroups = groups.length === 0 ? "of every group" : `of every group, ${listTexts(groups)} included`;
  const what =
    kind === "app"
      ? describeApps(artifacts, policyId)
      : `every app, because ${describeSession(artifacts, policyId)} denies the sign-in`;
  return { of: policyId, text: `${who}, ${ofGroups}, loses access to ${what}` };
}

/** A fact that holds for a sign-in, or does not, as it stands after "who signs in". */
function wordsOf(fact: Fact, isTrue: boolean, zones: Zones): string {
  const [, kind = "", name = ""] = /^(\w+) (\S+)$/.exec(fact) ?? [];
  const zone = zones.byId.get(name);
  const place = zone === undefined ? `the zones of ${name}` : `the zone "${nameOf(zone)}"`;
  const words: Readonly<Record<string, readonly [yes: string, no: string]>> = {
    zone: [`from ${place}`, `from outside ${place}`],
    group: [`as a member of group ${name}`, `without being a member of group ${name}`],
    user: [`as user ${name}`, `as another user than ${name}`],
    risk: [`at risk level ${name}`, `at another risk level than ${name}`],
    device: [`on a ${name} device`, `on a device that is not ${name}`],
  };
  return words[kind]?.[isTrue ? 0 : 1] ?? `with${isTrue ? "" : "out"} the condition ${fact}`;
}

/** All rules of a policy; null where some may be missing. */
export function rulesOf(artifacts: CollectedArtifacts, kind: PolicyKind, policyId: string): JsonList | null {
  const lists =
    kind === "session"
      ? listed(artifacts.global_session_policies)
          .filter(({ policy }) => policy["id"] === policyId)
          .map(({ rules }) => rules)
      : [appRules(artifacts, policyId), ...builtInApps(artifacts, policyId).map(({ rules }) => rules)];
  for (const list of lists) if (list?.state === "obtained") return list.value;
  return null;
}

function appRules({ app_policy_rules: all }: CollectedArtifacts, policyId: string): Evidence<JsonList> | null {
  const byId = all === undefined ? null : availableValue(all);
  return byId !== null && Object.hasOwn(byId, policyId) ? (byId[policyId] ?? null) : null;
}

function builtInApps({ admin_console_app: console, dashboard_app: dashboard }: CollectedArtifacts, policyId: string) {
  return [console, dashboard].flatMap((evidence) => {
    const found = evidence === undefined ? null : availableValue(evidence);
    return found !== null && found.app !== null && accessPolicyId(found.app) === policyId ? [found] : [];
  });
}

/** The active apps that a policy decides about, by name; apps that this run could not see are missing. */
export function appsOf(artifacts: CollectedArtifacts, policyId: string): readonly string[] {
  const apps = listed(artifacts.apps).filter(
    (app) => accessPolicyId(app) === policyId && activityOf(app) !== "inactive",
  );
  const builtIn = builtInApps(artifacts, policyId).flatMap(({ app }) => (app === null ? [] : [app]));
  return [...new Set([...apps, ...builtIn].map((app) => `"${nameOf(app)}"`))];
}

/** Whether every app of the org was seen: each org has both of Okta's own. */
export function areAllAppsSeen({ apps }: CollectedArtifacts): boolean {
  if (apps?.state !== "obtained") return false;
  const names = new Set(apps.value.map((app) => app["name"]));
  return names.has("saasure") && names.has("okta_enduser");
}

function describeApps(artifacts: CollectedArtifacts, policyId: string): string {
  const others = areAllAppsSeen(artifacts)
    ? ""
    : " and every other app that uses this policy, which this run could not see";
  return `${appsOf(artifacts, policyId).join(", ")}${others}`;
}

function describeSession(artifacts: CollectedArtifacts, policyId: string): string {
  const found = listed(artifacts.global_session_policies).find(({ policy }) => policy["id"] === policyId);
  return `the global session policy "${found === undefined ? policyId : nameOf(found.policy)}"`;
}

function groupsOf(artifacts: CollectedArtifacts, kind: PolicyKind, policyId: string): readonly string[] {
  const policies = listed(artifacts.global_session_policies).filter(({ policy }) => policy["id"] === policyId);
  const objects = [...(rulesOf(artifacts, kind, policyId) ?? []), ...policies.map(({ policy }) => policy)];
  return [...new Set(objects.flatMap((object) => namedGroups(object)))].map((id) => `group ${id}`);
}

function namedGroups(object: JsonObject): readonly string[] {
  const { anyOf, noneOf } = conditionsOf(object, { everyone: new Set(), isEverywhere: () => false });
  return [...anyOf.flat(), ...noneOf].flatMap((fact) => /^group (\S+)$/.exec(fact)?.[1] ?? []);
}

/** A new rule pushes those after it back. */
function planRules(rules: JsonList, planned: readonly Planned[], kind: PolicyKind): JsonList {
  let after: JsonList = rules.map((rule) => {
    const resource = planned.find(({ importId }) => importId?.split("/")[1] === idOf(rule));
    if (resource === undefined) return rule;
    const sources = kind === "app" ? appRuleSources(isBuiltIn(rule) === true) : sessionRuleSources;
    return writeWhole(rule, resource.attributes, sources);
  });
  for (const { importId, attributes, blocks } of planned) {
    if (importId !== null) continue;
    const sources = kind === "app" ? appRuleSources(false) : sessionRuleSources;
    const stayed = blocks.find(({ name }) => name === "keep_me_signed_in");
    const kept =
      stayed === undefined
        ? {}
        : { appSignOn: { keepMeSignedIn: writeWhole({}, stayed.attributes, keepSignedInSources) } };
    const made = writeWhole({ id: "new", system: false, actions: kept }, attributes, sources);
    const place = Number(made["priority"]);
    const pushed = after.map((rule) =>
      typeof rule["priority"] === "number" && rule["priority"] >= place
        ? { ...rule, priority: rule["priority"] + 1 }
        : rule,
    );
    after = [...pushed, made];
  }
  return after;
}

function contextOf(artifacts: CollectedArtifacts, kind: PolicyKind): ModelContext {
  const zones = zonesIn(artifacts);
  const isEverywhere = (id: string) => isZoneOfEverybody(id, zones);
  return { accessPath: accessPaths[kind], everyone: everyoneIn(artifacts.built_in_groups), isEverywhere };
}

/** The org's zones as rules name them. */
export function zonesIn({ network_zones: zones }: CollectedArtifacts): Zones {
  return readZones(zones ?? missing<JsonList>("provider_error", "not collected"));
}
