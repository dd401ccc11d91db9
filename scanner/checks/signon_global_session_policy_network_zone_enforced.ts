import { defineCheck } from "../check.ts";
import { fail, manual, pass, unreadable } from "./reading/drafts.ts";
import { networkConditionOf } from "./reading/network_condition.ts";

import { judgeSessionPolicies } from "./reading/session_policies.ts";
import { nameOf } from "./reading/names.ts";

const expected = "an active rule at priority 1 that allows or denies by network zone";

export const signonGlobalSessionPolicyNetworkZoneEnforced = defineCheck({
  name: "signon_global_session_policy_network_zone_enforced",
  artifacts: ["global_session_policies"],
  explanation: {
    examines: "Whether the deciding rule of every active global session policy names a network zone.",
    why:
      "A session policy that treats every address alike cannot tell the organization's networks from an attacker's. " +
      "A rule set to Anywhere is open even where an old zone list is still stored in it.",
    fix: [
      "Define the networks under Security > Networks in the Admin Console",
      "Open Security > Global Session Policy and each active policy",
      "Edit the rule at priority 1, the built-in one included",
      'Set "IF User\'s IP is" to In zone or Not in zone and choose the zones of the Access Control Policy',
    ],
    deciding_fields: [
      "GET /api/v1/policies?type=OKTA_SIGN_ON: status",
      "GET /api/v1/policies/{id}/rules: status, priority",
      "GET /api/v1/policies/{id}/rules: conditions.network.connection, .include, .exclude",
    ],
  },
  evaluate: ({ global_session_policies }) =>
    judgeSessionPolicies(global_session_policies, {
      expected,
      judgeRule: (subject, rule) => {
        const network = networkConditionOf(rule);
        const actual = `${network.actual} in rule "${nameOf(rule)}"`;
        if (network.kind === "zoned") return pass(subject, actual);
        if (network.kind === "open") return fail(subject, actual);
        return network.kind === "review" ? manual(subject, "needs_review", actual) : unreadable(subject, actual);
      },
    }),
});
