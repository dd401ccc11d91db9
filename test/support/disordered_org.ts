import type { OrgContents, PolicyWithRules, Resource, Site } from "../../practice_org/objects/org_contents.ts";
import { compliantOrg } from "../../practice_org/profiles/compliant.ts";
import { edgeOrg } from "../../practice_org/profiles/edge.ts";
import { emptyOrg } from "../../practice_org/profiles/empty.ts";
import { guardedOrg } from "../../practice_org/profiles/guarded.ts";
import { narrowOrg } from "../../practice_org/profiles/narrow.ts";
import { typicalOrg } from "../../practice_org/profiles/typical.ts";
import { groupId } from "../../practice_org/objects/people_objects.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { set } from "./artifact_builders.ts";
import { failingOrg } from "./failing_org.ts";

/**
 * A practice org of one of the profiles in which rules were turned around as people do: some deny, some are switched off,
 * some are for a zone, a group, a device or a level of risk only. The same for the same random numbers.
 */
export function disorderedOrg(random: () => number): (site: Site) => OrgContents {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const profile = pick([typicalOrg, failingOrg, guardedOrg, compliantOrg, edgeOrg, narrowOrg, emptyOrg]);
  const disorder = pick([0.1, 0.3, 0.6]);

  return (site) => {
    const org = profile(site);
    const zoneIds = org.zones.map(({ id }) => id);
    const mayChange = new Set(["OKTA_SIGN_ON", "ACCESS_POLICY"]);

    function turned(rule: Resource): Resource {
      const isBuiltIn = rule["system"] === true;
      const path = isJsonObject(rule["actions"]) && "appSignOn" in rule["actions"] ? "appSignOn" : "signon";
      const everybody: readonly JsonObject[] = [set(rule, `actions.${path}.access`, pick(["ALLOW", "DENY"]))];
      const zone = { connection: "ZONE", [pick(["include", "exclude"])]: [pick(zoneIds)] };
      const group = { users: { exclude: [] }, groups: { include: [groupId("Everyone")] } };
      const ownOnly = [
        { ...rule, status: "INACTIVE" },
        set(rule, "conditions.network", zone),
        set(rule, "conditions.riskScore.level", "HIGH"),
        set(rule, "conditions.people", group),
      ];
      return pick(isBuiltIn ? (path === "appSignOn" ? everybody : [rule]) : [...everybody, ...ownOnly]) as Resource;
    }

    function disorderly({ policy, rules }: PolicyWithRules): PolicyWithRules {
      if (!mayChange.has(policy.type)) return { policy, rules };
      return { policy, rules: rules.map((rule) => (random() < disorder ? turned(rule) : rule)) };
    }

    return { ...org, policies: org.policies.map(disorderly) };
  };
}
