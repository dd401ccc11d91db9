import { causeTypes, type CauseType } from "../../shared/vocabulary.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { isUsableId } from "../checks/parsing/ids.ts";
import { listTexts } from "../checks/parsing/names.ts";
import { isBuiltIn } from "../checks/parsing/rule_order.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { objectLists, type OrgObject } from "../evidence/org_objects.ts";

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

const namesOfPolicies: Partial<Record<ArtifactName, string>> = {
  global_session_policies: "global session policy",
  password_policies: "password policy",
};
const appArtifacts = ["apps", "app_policy_rules", "admin_console_app", "dashboard_app"] as const;

/**
 * Every object in the evidence that can be a cause, also where a list broke off. Objects without a usable id are left out,
 * and apps and their policies where nobody asks for them: an org may have tens of thousands.
 */
export function changeableObjects(
  artifacts: CollectedArtifacts,
  { withApps }: { readonly withApps: boolean },
): readonly ChangeableObject[] {
  const names = (Object.keys(artifacts) as ArtifactName[]).filter(
    (name) => withApps || !appArtifacts.some((one) => one === name),
  );
  const lists = objectLists(Object.fromEntries(names.map((name) => [name, artifacts[name]])));
  const apps = new Map(
    lists.flatMap(({ objects }) => objects.filter(({ type }) => type === "app").map((app) => [app.id, app] as const)),
  );
  const appPolicies = policiesOfApps(lists, [...apps.values()]);
  const all = lists.flatMap(({ objects }) => objects.flatMap((object) => toChangeable(object, { apps, appPolicies })));
  return [...all, ...appPolicies.values()];
}

/** Authentication policies, which the evidence knows by their id, their rules and their apps. */
function policiesOfApps(
  lists: ReturnType<typeof objectLists>,
  apps: readonly OrgObject[],
): ReadonlyMap<string, ChangeableObject> {
  const active = apps.filter(({ value }) => activityOf(value) !== "inactive");
  const byPolicy = Map.groupBy(active, ({ value }) => accessPolicyId(value));
  const builtIn = apps.filter(({ artifact }) => artifact !== "apps").map(({ value }) => accessPolicyId(value));
  const read = lists.flatMap(({ artifact, parent }) => (artifact === "app_policy_rules" && parent ? [parent.id] : []));
  const ids = new Set([...builtIn, ...read].filter((id) => typeof id === "string"));
  return new Map(
    [...ids].map((id) => {
      const names = [...new Set((byPolicy.get(id) ?? []).map(({ name }) => `"${name}"`))];
      const ofApps = `uthentication policy of ${listTexts(names)}`;
      const name = names.length === 0 ? id : `A${ofApps}`;
      const where = names.length === 0 ? `the authentication policy ${id}` : `the a${ofApps}`;
      return [id, { type: "policy", id, name, where, isBuiltIn: false }];
    }),
  );
}

function toChangeable(
  { artifact, type, id, name, parent, value }: OrgObject,
  {
    apps,
    appPolicies,
  }: {
    readonly apps: ReadonlyMap<string, OrgObject>;
    readonly appPolicies: ReadonlyMap<string, ChangeableObject>;
  },
): readonly ChangeableObject[] {
  const known = causeTypes.find((one) => one === type);
  if (known === undefined || !isUsableId(id) || value["id"] !== id) return [];
  const policy = namesOfPolicies[artifact];
  const whereOf = (): string | undefined => {
    if (type === "policy") return policy && `the ${policy} "${name}"`;
    if (type !== "policy_rule" || parent === null) return `the ${type === "api_token" ? "API token" : type} "${name}"`;
    if (policy !== undefined) return `rule "${name}" of the ${policy} "${parent.name}"`;
    const app = apps.get(parent.id);
    const policyId = app === undefined ? parent.id : accessPolicyId(app.value);
    const ofApps = typeof policyId === "string" ? appPolicies.get(policyId)?.where : undefined;
    return ofApps && `rule "${name}" of ${ofApps}`;
  };
  const where = whereOf();
  return where === undefined ? [] : [{ type: known, id, name, where, isBuiltIn: isBuiltIn(value) === true }];
}
