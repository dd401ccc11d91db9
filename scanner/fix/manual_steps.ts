import type { JsonObject } from "../../shared/json.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { judgeNetwork, networkConditionOf } from "../checks/evaluating/network_condition.ts";
import { readZones } from "../checks/evaluating/zones.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { listTexts, nameOf } from "../checks/parsing/names.ts";
import { everyoneIn, restrictionsOf } from "../checks/parsing/rule_conditions.ts";
import { accessOf, inOrder, isBuiltIn, isSure } from "../checks/parsing/rule_order.ts";
import { availableValue, missing, type CollectedArtifacts, type JsonList } from "../evidence/artifacts.ts";
import { appsOfPolicy } from "./app_policies.ts";
import type { ByHand } from "./plan_fixes.ts";
import { decidingRule, idOf, listed } from "./planned_change.ts";

/** The steps in the Admin Console for failing findings of one check, each naming the object to change. */
export function manualSteps(
  { name, explanation }: CatalogCheck,
  failed: readonly ByHand[],
  artifacts: CollectedArtifacts,
): readonly string[] {
  if (name === sessionZones) return sessionZoneSteps(failed, artifacts);
  if (name === appZones) return appZoneSteps(failed, artifacts);
  const [last = ""] = explanation.fix.slice(-1);
  const changes = failed.map(
    ({ finding: { to_pass, resource } }) =>
      to_pass ?? `${last} (${resource.type.replaceAll("_", " ")} "${resource.name}")`,
  );
  return [...explanation.fix.slice(0, -1), ...new Set(changes)];
}

const sessionZones = "signon_global_session_policy_network_zone_enforced";
const appZones = "application_authentication_policy_network_zone_enforced";
const defineZones =
  "Open Security > Networks in the Admin Console, and add the zones of the Access Control Policy that are missing";

/** The rule that decides, and the next one, which decides about everybody outside its zones. */
function sessionZoneSteps(failed: readonly ByHand[], artifacts: CollectedArtifacts): readonly string[] {
  const steps = failed.flatMap((item) => {
    const parent = listed(artifacts.global_session_policies).find(
      ({ policy }) => idOf(policy) === item.finding.resource.id,
    );
    if (parent === undefined) return [];
    const rules = listed(parent.rules);
    const rule = decidingRule(item, rules);
    const active = inOrder(rules).filter(isSure);
    const next = rule === null ? undefined : active[active.indexOf(rule) + 1];
    return [
      `Open Security > Global Session Policy and the policy "${nameOf(parent.policy)}"`,
      `Edit ${rule === null ? "the rule at priority 1" : ruleText(rule)}: set "IF User's IP is" to In zone or Not in zone, choose the zones of the Access Control Policy, and save`,
      ...(next === undefined
        ? []
        : [
            `Review ${ruleText(next)}, which now decides about users outside these zones: it ` +
              (accessOf(next, "actions.signon.access") === "DENY" ? "denies them" : "allows them"),
          ]),
    ];
  });
  return [defineZones, ...steps];
}

/** Each rule that lets people in from anywhere, and the catch-all last. */
function appZoneSteps(failed: readonly ByHand[], artifacts: CollectedArtifacts): readonly string[] {
  const appOf = new Map(listed(artifacts.apps).map((app) => [idOf(app), app]));
  const policies = new Set(
    failed.flatMap(({ finding }) => {
      const app = appOf.get(finding.resource.id);
      const id = app === undefined ? null : accessPolicyId(app);
      return typeof id === "string" ? [id] : [];
    }),
  );
  return [defineZones, ...[...policies].flatMap((policyId) => policySteps(policyId, artifacts))];
}

const accessPath = "actions.appSignOn.access";

/** The catch-all denies before a rule is narrowed, so that nobody comes to it in the meantime. */
function policySteps(policyId: string, artifacts: CollectedArtifacts): readonly string[] {
  const { app_policy_rules: byId, network_zones, built_in_groups } = artifacts;
  const active = inOrder(listed(byId === undefined ? null : availableValue(byId)?.[policyId])).filter(isSure);
  const allowing = active.filter((rule) => isBuiltIn(rule) !== true && accessOf(rule, accessPath) === "ALLOW");
  const everyone = everyoneIn(built_in_groups);
  const zones = readZones(network_zones ?? missing<JsonList>("provider_error", "not collected"));
  const open = allowing.filter(
    (rule) => judgeNetwork({ resource: null, expected: "" }, networkConditionOf(rule, zones), "").status === "FAIL",
  );
  const catchAll = active.find((rule) => isBuiltIn(rule) === true);
  const name = catchAll === undefined ? "the Catch-all Rule" : ruleText(catchAll);
  return [
    `Open Security > Authentication Policies and the policy of ${listTexts(appsOfPolicy(artifacts, policyId))}`,
    ...(allowing.every((rule) => restrictionsOf(rule, everyone).size > 0)
      ? [`Add a rule above ${name} with its factors: set "User's IP is" to the zones of the Access Control Policy`]
      : []),
    ...(catchAll !== undefined && accessOf(catchAll, accessPath) === "DENY"
      ? []
      : [`Edit ${name}: set "Access is" to Denied, and sign in from one of the zones to try it`]),
    ...open.map((rule) => `Edit ${ruleText(rule)}: set "User's IP is" to the zones of the Access Control Policy`),
  ];
}

function ruleText(rule: JsonObject): string {
  return `the rule "${nameOf(rule)}"`;
}
