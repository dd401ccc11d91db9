import { decide, defineCheck, everyoneGroup, networkFields, rulesForEverybody, zoneFields } from "./check.ts";
import { policyZoneUse } from "../org_policy/facts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { withPartialCoverage, type Subject, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { everyoneIn } from "./parsing/policy_rules.ts";
import { nameOf } from "./parsing/names.ts";
import { groupsOfSessionRules, judgeSessionPolicies } from "./evaluating/session_policies.ts";
import { judgeNetwork, networkConditionOf, readZones, type Zones } from "./evaluating/zones.ts";
import { entriesOf } from "../evidence/artifacts.ts";
import { compareByName, compareZones, notCovered, withDocument } from "../org_policy/comparison.ts";
import type { ZoneLists } from "../org_policy/document.ts";

const accessPath = "actions.signon.access";
const expected = "an active rule at priority 1 that allows or denies by network zone";
const uncovered =
  'Verify that "IF User\'s IP is" allows or denies the zones that the organization defined policy names';

export const signonGlobalSessionPolicyNetworkZoneEnforced = defineCheck({
  name: "signon_global_session_policy_network_zone_enforced",
  artifacts: ["global_session_policies", "network_zones"],
  conditionalArtifacts: groupsOfSessionRules,
  decidingFields: [
    decide("global_session_policies", ["status", "system"]),
    decide("policyRules", ["status", "priority", ...networkFields, accessPath]),
    rulesForEverybody,
    everyoneGroup,
    zoneFields,
  ],
  leftToPerson: uncovered,
  evaluate({ network_zones, ...artifacts }, { orgPolicy }) {
    const zones = readZones(network_zones);
    const policies = entriesOf(artifacts.global_session_policies);
    const drafts = judgeSessionPolicies(artifacts, {
      expected,
      judgeRule: (subject, rule) =>
        judgeNetwork(subject, networkConditionOf(rule, zones), ` in rule "${nameOf(rule)}"`),
      judgeDeny: (subject, rule) => judgeDenial(subject, rule, zones),
    });
    const reading = { accessPath, zones, everyone: everyoneIn(artifacts.built_in_groups) } as const;
    const objects = policies.map(({ policy }) => policy);
    const named = "session policies with the name";
    const byName = compareByName(orgPolicy?.session_policies, ({ policy }) => policy, { named, objects });
    return drafts.map((draft) => {
      if (draft.status !== "PASS") return draft;
      // Compares the zones of all rules: those whom the first one is not for come to the others.
      const compared = withDocument({ ...draft, uncovered }, orgPolicy, () => {
        const rules = policies.find(({ policy }) => policy["id"] === draft.resource?.id)?.rules;
        const compare = (entry: ZoneLists) => compareZones(entry, policyZoneUse(entriesOf(rules), reading), zones);
        return byName(draft.resource?.name ?? "", compare) ?? byName("*", compare) ?? notCovered;
      });
      // No document answers for a later rule that is open by the STIG.
      return withPartialCoverage(compared, draft.uncovered);
    });
  },
});

/** DISA accepts a rule that denies by network. One that denies some people on every network says nothing about networks. */
function judgeDenial(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  const network = networkConditionOf(rule, zones);
  // A zone that is gone or inactive holds nobody: the next rule decides.
  if (network.kind === "wrong" || network.kind === "open") return null;
  // However wide the denied zone is, those in it are kept out.
  const isWide = network.kind === "everywhere" || network.kind === "broad";
  return judgeNetwork(
    subject,
    isWide ? { ...network, kind: "zoned" } : network,
    `, which rule "${nameOf(rule)}" denies`,
  );
}
