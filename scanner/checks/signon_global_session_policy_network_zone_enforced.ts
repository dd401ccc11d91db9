import { decide, defineCheck, everyoneGroup, networkFields, rulesForEverybody, zoneFields } from "./check.ts";
import { policyZoneUse } from "../org_policy/facts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { withPartialCoverage, type Subject, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { everyoneIn } from "./parsing/rule_conditions.ts";
import { nameOf } from "./parsing/names.ts";
import { groupsOfSessionRules, judgeSessionPolicies } from "./evaluating/session_policies.ts";
import { judgeNetwork, networkConditionOf, readZones, type Zones, type ZonesVerdict } from "./evaluating/zones.ts";
import { entriesOf, type PolicyWithRules } from "../evidence/artifacts.ts";
import { compareSole, compareZones, notCovered, withDocument, type Comparison } from "../org_policy/comparison.ts";
import type { OrgPolicy } from "../org_policy/document.ts";

const expected = "an active rule at priority 1 that allows or denies by network zone";
const uncovered =
  'Verify that "IF User\'s IP is" allows or denies the zones that the organization defined policy names';

export const signonGlobalSessionPolicyNetworkZoneEnforced = defineCheck({
  name: "signon_global_session_policy_network_zone_enforced",
  artifacts: ["global_session_policies", "network_zones"],
  conditionalArtifacts: groupsOfSessionRules,
  decidingFields: [
    decide("global_session_policies", ["status", "system"]),
    decide("policyRules", ["status", "priority", ...networkFields, "actions.signon.access"]),
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
    const everyone = everyoneIn(artifacts.built_in_groups);
    return drafts.map((draft) => {
      if (draft.status !== "PASS") return draft;
      const compared = withDocument({ ...draft, uncovered }, orgPolicy, (policy) =>
        comparePolicy(draft.resource, { policy, policies, zones, everyone }),
      );
      // No document answers for a later rule that is open by the STIG.
      return withPartialCoverage(compared, draft.uncovered);
    });
  },
});

interface Compared {
  readonly policy: OrgPolicy;
  readonly policies: readonly PolicyWithRules[];
  readonly zones: Zones;
  readonly everyone: ReadonlySet<string> | null;
}

/** Compares the zones of all rules: those whom the first one is not for come to the others. */
function comparePolicy(resource: FindingDraft["resource"], { policy, policies, ...reading }: Compared): Comparison {
  if (resource === null) return notCovered;
  const { id, name } = resource;
  const entryOf = (wanted: string) => policy.session_policies?.find((entry) => entry.policy === wanted);
  const own = entryOf(name);
  const entry = own ?? entryOf("*");
  if (entry === undefined) return notCovered;
  const named = own === undefined ? [] : policies.filter((one) => nameOf(one.policy) === name);
  const rules = entriesOf(policies.find((one) => one.policy["id"] === id)?.rules);
  return compareSole(named, `session policies with the name "${name}"`, () =>
    compareZones(entry, policyZoneUse(rules, { accessPath: "actions.signon.access", ...reading }), reading.zones),
  );
}

/** DISA accepts a rule that denies by network. One that denies some people on every network says nothing about networks. */
function judgeDenial(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  const network = networkConditionOf(rule, zones);
  // A zone that is gone or inactive holds nobody, so that the next rule decides.
  if (network.kind === "open" || network.kind === "wrong") return null;
  // However wide the denied zone is, those in it are kept out.
  const denied: ZonesVerdict =
    network.kind === "everywhere" || network.kind === "broad" ? { ...network, kind: "zoned" } : network;
  return judgeNetwork(subject, denied, `, which rule "${nameOf(rule)}" denies`);
}
