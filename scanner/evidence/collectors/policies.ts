import type { JsonObject } from "../../../shared/json.ts";
import { artifactTable, partPath, partPaths, withoutLinks } from "../artifact_table.ts";
import { missing, type Evidence, type JsonList, type PolicyWithRules } from "../artifacts.ts";
import { memoize } from "../../checks/evaluating/memoize.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { textsIn } from "../../checks/parsing/fields.ts";
import type { IdpClient } from "../../okta/idp_client.ts";
import { keeping, mapEvidence, pathSegment, type Collector, type CollectorContext, evidenceOf } from "./collector.ts";

type PoliciesName = "global_session_policies" | "user_lifecycle_policies";

export function policiesCollector<Name extends PoliciesName>(name: Name): Collector<Name> {
  // The rules of inactive automations too: a finding names every piece that is missing from the closest one.
  const isWanted = (policy: JsonObject) => name === "user_lifecycle_policies" || activityOf(policy) !== "inactive";
  return async (context) => {
    const policies = await context.client.getList(artifactTable[name].request);
    return mapEvidence(evidenceOf(policies), (found) => withRules(found, context, isWanted));
  };
}

export const collectAutomationGroups: Collector<"automation_groups"> = async ({ client, obtain }) =>
  mapEvidence(await obtain("user_lifecycle_policies"), async (found) => {
    const named = found.flatMap(({ policy }) => textsIn(policy, "conditions.people.groups.include"));
    const ids = [...new Set(named)].map(pathSegment).filter((id) => id !== null);
    const groups = await Promise.all(
      ids.map((id) => client.getObject({ path: partPath(partPaths.group, id), scope: "groups.read" })),
    );
    return groups.flatMap((group) => (group.state === "obtained" ? [keepGroup(group.value)] : []));
  });

const keepGroup = keeping(["id", "type", "profile.name"]);

/** A policy's rules, fetched once however many apps share the policy. */
export function createPolicyRules(client: IdpClient): CollectorContext["policyRules"] {
  return memoize(async (policyId: unknown): Promise<Evidence<JsonList>> => {
    const id = pathSegment(policyId);
    if (id === null) return missing("unreadable", "The policy has no usable id, so its rules could not be asked for.");
    return evidenceOf(
      await client.getList({ path: partPath(partPaths.policyRules, id), scope: "policies.read", keep: withoutLinks }),
    );
  });
}

function withRules(
  policies: JsonList,
  context: CollectorContext,
  isWanted: (policy: JsonObject) => boolean,
): Promise<readonly PolicyWithRules[]> {
  return Promise.all(
    policies.map(async (policy): Promise<PolicyWithRules> => ({
      policy,
      rules: isWanted(policy) ? await context.policyRules(policy["id"]) : null,
    })),
  );
}
