import type { JsonObject } from "../../shared/json.ts";
import type { Finding } from "../../shared/report.ts";
import { sha256 } from "../digest.ts";
import { causeId } from "../evaluate.ts";
import { causeTypes, type CauseType } from "../../shared/schemas/report.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { isUsableId, listTexts, sortTexts } from "../checks/parsing/names.ts";
import { isBuiltIn } from "../checks/parsing/policy_rules.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { objectLists, type ObjectList, type OrgObject } from "../evidence/org_objects.ts";

/** An object whose change can close a finding. */
export interface ChangeableObject {
  readonly type: CauseType;
  readonly id: string;
  readonly name: string;
  /** Place where a person finds it, in words: `rule "Everybody" of the global session policy "Default Policy"`. */
  readonly where: string;
  /** True when Okta made it, so that a rule cannot be changed in every respect. */
  readonly isBuiltIn: boolean;
}

/** Every object in the evidence that can be a cause, also where a list broke off. Objects without a usable id are left out. */
export function changeableObjects(artifacts: CollectedArtifacts): readonly ChangeableObject[] {
  const lists = objectLists(artifacts);
  const objects = lists.flatMap((list) => list.objects);
  const apps = new Map(objects.filter(({ type }) => type === "app").map((app) => [app.id, app]));
  const policies = new Map([
    ...objects.flatMap(policyOf).map((policy) => [policy.id, policy] as const),
    ...policiesOfApps(lists, [...apps.values()], appsByPolicy(artifacts)),
  ]);
  const others = objects.flatMap((object): readonly ChangeableObject[] => {
    const { type, name, parent } = object;
    if (type === "policy") return [];
    if (type !== "policy_rule") return changeable(object, `the ${type === "api_token" ? "API token" : type} "${name}"`);
    const app = apps.get(parent?.id ?? "");
    const policyId = app === undefined ? parent?.id : accessPolicyId(app.value);
    const policy = typeof policyId === "string" ? policies.get(policyId) : undefined;
    return policy === undefined ? [] : changeable(object, `rule "${name}" of ${policy.where}`);
  });
  return [...policies.values(), ...others];
}

const namesOfPolicies: Partial<Record<ArtifactName, string>> = {
  global_session_policies: "global session policy",
  password_policies: "password policy",
};

function policyOf(object: OrgObject): readonly ChangeableObject[] {
  const kind = namesOfPolicies[object.artifact];
  return kind === undefined || object.type !== "policy" ? [] : changeable(object, `the ${kind} "${object.name}"`);
}

/** The names of the active apps of each authentication policy, as far as this run saw them. */
export function appsByPolicy(artifacts: CollectedArtifacts): (policyId: string) => readonly string[] {
  const objects = objectLists(artifacts).flatMap((list) => list.objects);
  const active = objects.filter(({ type, value }) => type === "app" && activityOf(value) !== "inactive");
  const byPolicy = Map.groupBy(active, ({ value }) => accessPolicyId(value));
  return (policyId) => sortTexts([...new Set(byPolicy.get(policyId)?.map(({ name }) => `"${name}"`))]);
}

/** Authentication policies, which the evidence knows by their id, their rules and their apps. */
function policiesOfApps(
  lists: readonly ObjectList[],
  apps: readonly OrgObject[],
  namesOfApps: ReturnType<typeof appsByPolicy>,
): readonly (readonly [string, ChangeableObject])[] {
  const builtIn = apps.filter(({ artifact }) => artifact !== "apps").map(({ value }) => accessPolicyId(value));
  const read = lists.flatMap(({ artifact, parent }) => (artifact === "app_policy_rules" && parent ? [parent.id] : []));
  return [...new Set([...builtIn, ...read].filter((id) => typeof id === "string"))].map((id) => {
    const names = namesOfApps(id);
    const whole = names.length === 0 ? `authentication policy ${id}` : `authentication policy of ${listTexts(names)}`;
    const name = names.length === 0 ? id : whole.replace("a", "A");
    return [id, { type: "policy", id, name, where: `the ${whole}`, isBuiltIn: false }];
  });
}

function changeable({ type, id, name, value }: OrgObject, where: string): readonly ChangeableObject[] {
  const known = causeTypes.find((one) => one === type);
  if (known === undefined || !isUsableId(id) || value["id"] !== id) return [];
  return [{ type: known, id, name, where, isBuiltIn: isBuiltIn(value) === true }];
}

/** True for the rule whose change closes the finding. */
export function isCauseOf({ cause }: Pick<Finding, "cause">, { id }: JsonObject): boolean {
  return typeof id === "string" && causeId({ type: "policy_rule", id }, sha256) === cause;
}
