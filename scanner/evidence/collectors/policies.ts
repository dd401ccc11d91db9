import { activityOf } from "../../checks/parsing/activity.ts";
import { textsIn } from "../../checks/parsing/fields.ts";
import type { IdpClient } from "../../okta/idp_client.ts";
import { artifactTable, partPath, partPaths, withoutLinks } from "../artifact_table.ts";
import { keeping, listReader, mapEntries, mapEvidence, pathSegment, type Collectors } from "./collector.ts";

export const policyCollectors = {
  global_session_policies: async ({ client, policyRules }) =>
    mapEntries(await client.getList(artifactTable.global_session_policies.request), async (policy) => ({
      policy,
      rules: activityOf(policy) === "inactive" ? null : await policyRules(policy["id"]),
    })),

  // The rules of inactive automations too: a finding names every piece that is missing from the closest one.
  user_lifecycle_policies: async ({ client, policyRules }) =>
    mapEntries(await client.getList(artifactTable.user_lifecycle_policies.request), async (policy) => ({
      policy,
      rules: await policyRules(policy["id"]),
    })),

  automation_groups: async ({ client, obtain }) =>
    mapEvidence(await obtain("user_lifecycle_policies"), async (found) => {
      const named = found.flatMap(({ policy }) => textsIn(policy, "conditions.people.groups.include"));
      const ids = [...new Set(named)].map(pathSegment).filter((id) => id !== null);
      const groups = await Promise.all(
        ids.map((id) => client.getObject({ path: partPath(partPaths.group, id), scope: "groups.read" })),
      );
      return groups.flatMap((group) => (group.state === "obtained" ? [keepGroup(group.value)] : []));
    }),
} satisfies Collectors;

const keepGroup = keeping(["id", "type", "profile.name"]);

/** Shared by all apps that are bound to a policy. */
export function createPolicyRules(client: IdpClient) {
  return listReader("The policy has no usable id, so its rules", (id) =>
    client.getList({ path: partPath(partPaths.policyRules, id), scope: "policies.read", keep: withoutLinks }),
  );
}
