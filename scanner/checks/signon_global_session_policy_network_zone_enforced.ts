import type { JsonList } from "../evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { defineCheck } from "./check.ts";
import { readText } from "./parsing/fields.ts";
import { nameOf } from "./parsing/names.ts";
import { judgeNetwork, networkConditionOf } from "./judging/network_condition.ts";
import { hasPeopleCondition } from "./judging/rules.ts";
import { judgeSessionPolicies } from "./judging/session_policies.ts";
import { readZones, type Zones } from "./judging/zones.ts";

const expected = "an active rule at priority 1 that allows or denies by network zone";

export const signonGlobalSessionPolicyNetworkZoneEnforced = defineCheck({
  name: "signon_global_session_policy_network_zone_enforced",
  artifacts: ["global_session_policies", "network_zones"],
  explanation: {
    examines: "Whether the deciding rule of every active global session policy names a network zone.",
    why:
      "A session policy that treats every address alike cannot tell the organization's networks from an attacker's. " +
      "A rule set to Anywhere is open even where an old zone list is still stored in it, and a zone that is gone, inactive, " +
      "a blocklist, or as wide as the internet restricts nothing. Where a later rule lets in from anywhere, a person has to compare " +
      "that with the Access Control Policy.",
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
      "GET /api/v1/policies/{id}/rules: conditions.people, actions.signon.access (of later rules)",
      "GET /api/v1/zones: id, name, status, usage, type, gateways (and what a dynamic zone lists)",
    ],
  },
  evaluate({ global_session_policies, network_zones }) {
    const zones = readZones(network_zones);
    return judgeSessionPolicies(global_session_policies, {
      expected,
      judgeRule: (subject, rule) =>
        judgeNetwork(subject, networkConditionOf(rule, zones), ` in rule "${nameOf(rule)}"`),
      uncovered: (later) => openRuleOf(later, zones),
    });
  },
});

/** A later rule that allows access from anywhere, in words; null where there is none, or an earlier one denies all users there. */
function openRuleOf(later: JsonList, zones: Zones): string | null {
  for (const rule of later) {
    const network = networkConditionOf(rule, zones);
    if (network.kind === "zoned" || network.kind === "wrong") continue;
    if (denies(rule)) {
      if (network.kind === "open" && !hasPeopleCondition(rule)) return null;
      continue;
    }
    const what = network.kind === "open" ? "allows access from anywhere" : "may allow access from anywhere";
    return `Rule "${nameOf(rule)}" after it ${what} (${network.actual}): whether the Access Control Policy wants that is for a person to judge`;
  }
  return null;
}

function denies(rule: JsonObject): boolean {
  const access = readText(rule, "actions.signon.access");
  return access.kind === "value" && access.value === "DENY";
}
