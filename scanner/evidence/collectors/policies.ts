import type { JsonObject } from "../../../shared/json.ts";
import { missing, type Evidence, type JsonList, type PolicyWithRules } from "../artifacts.ts";
import { memoize } from "../../checks/evaluating/memoize.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { textsIn } from "../../checks/parsing/fields.ts";
import type { IdpClient, IdpRequest } from "../../okta/idp_client.ts";
import { firstRequests } from "../../okta/probe_requests.ts";
import { keeping, mapEvidence, pathSegment, type Collector, type CollectorContext, evidenceOf } from "./collector.ts";

export const collectGlobalSessionPolicies: Collector<"global_session_policies"> = async (context) => {
  const policies = await listPolicies(context.client, firstRequests.global_session_policies);
  return mapEvidence(policies, (found) => withRules(found, context, isPerhapsActive));
};

export const collectPasswordPolicies: Collector<"password_policies"> = ({ client }) =>
  listPolicies(client, firstRequests.password_policies);

/** The rules of inactive automations too: a finding names every piece that is missing from the closest one. */
export const collectUserLifecyclePolicies: Collector<"user_lifecycle_policies"> = async (context) => {
  const policies = await listPolicies(context.client, firstRequests.user_lifecycle_policies);
  return mapEvidence(policies, (found) => withRules(found, context, () => true));
};

export const collectAutomationGroups: Collector<"automation_groups"> = async ({ client, obtain }) =>
  mapEvidence(await obtain("user_lifecycle_policies"), async (found) => {
    const named = found.flatMap(({ policy }) => textsIn(policy, "conditions.people.groups.include"));
    const ids = [...new Set(named)].map(pathSegment).filter((id) => id !== null);
    const groups = await Promise.all(
      ids.map((id) => client.getObject({ path: `/api/v1/groups/${id}`, scope: "groups.read" })),
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
      await client.getList({ path: `/api/v1/policies/${id}/rules`, scope: "policies.read", keep: withoutLinks }),
    );
  });
}

async function listPolicies(client: IdpClient, request: IdpRequest): Promise<Evidence<JsonList>> {
  return evidenceOf(await client.getList({ ...request, keep: withoutLinks }));
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

function isPerhapsActive(policy: JsonObject): boolean {
  return activityOf(policy) !== "inactive";
}

function withoutLinks(object: JsonObject): JsonObject {
  const { _links, ...rest } = object;
  return rest;
}
