import { policyWithRules } from "./policy_objects.ts";
import type { PolicyWithRules, Site } from "./org_contents.ts";

export interface AutomationSpec {
  readonly name: string;
  readonly status: "ACTIVE" | "INACTIVE";
  readonly inactivity: { readonly number: number; readonly unit: "DAYS" | "WEEKS" | "HOURS" };
  readonly groupIds: readonly string[];
  readonly targetStatus: string;
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
    conditions: { people: { users: { inactivity: spec.inactivity }, groups: { include: spec.groupIds } } },
    rules: [
      {
        name: spec.name,
        priority: 1,
        conditions: null,
        actions: { updateUserLifecycle: { targetStatus: spec.targetStatus } },
      },
    ],
  });
}
