import type { JsonObject } from "../../shared/json.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { isSignedInTo } from "../checks/application_authentication_policy_network_zone_enforced.ts";
import { Subject } from "../checks/evaluating/finding_drafts.ts";
import { judgeNetwork, networkConditionOf, readZones } from "../checks/evaluating/zones.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { nameOf, quoteAll } from "../checks/parsing/names.ts";
import { everyoneIn, restrictionsOf, accessOf, inOrder, isBuiltIn, isSure } from "../checks/parsing/policy_rules.ts";
import { isDeparture } from "../org_policy/document.ts";
import { availableValue, entriesOf, type CollectedArtifacts } from "../evidence/artifacts.ts";
import type { ByHand } from "./plan_fixes.ts";
import { decidingRule, idOf } from "./planned_change.ts";

/** The steps in the Admin Console for failing findings of one check, each naming the object to change. */
export function manualSteps(
  { name, explanation }: CatalogCheck,
  failed: readonly ByHand[],
  artifacts: CollectedArtifacts,
): readonly string[] {
  if (name === sessionZones) return sessionZoneSteps(failed, artifacts);
  if (name === appZones) return appZoneSteps(failed, artifacts);
  const [first = "", ...others] = explanation.fix;
  const last = others.at(-1) ?? first;
  // The last step is another way, for what only a document asks for.
  if (last.startsWith("Or, ") && failed.every(({ finding }) => isDeparture(finding)))
    return [first, ...failed.map(({ finding }) => `${last.replace("Or, w", "W")}: ${finding.actual}`)];
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

/** The next rule comes first, because it will decide about everybody outside the zones. */
function sessionZoneSteps(failed: readonly ByHand[], artifacts: CollectedArtifacts): readonly string[] {
  const steps = failed.flatMap((item) => {
    const { resource, expected } = item.finding;
    const parent = entriesOf(artifacts.global_session_policies).find(({ policy }) => idOf(policy) === resource.id);
    if (parent === undefined) return [];
    const opened = `Open Security > Global Session Policy and the policy "${nameOf(parent.policy)}"`;
    if (isDeparture(item.finding)) return [opened, `Change its rules to ${expected}`];
    const rules = entriesOf(parent.rules);
    const rule = decidingRule(item, rules);
    const active = inOrder(rules).filter(isSure);
    // The session limits need a rule before the built-in one, which then is the next.
    const isNew = rule !== null && isBuiltIn(rule) === true;
    const next = rule === null ? undefined : isNew ? rule : active[active.indexOf(rule) + 1];
    const edited = rule === null ? "the rule at priority 1" : ruleText(rule);
    return [
      opened,
      ...(next === undefined
        ? []
        : [`Review ${ruleText(next)}: it will decide about users outside the zones, and ${effectOf(next)} them`]),
      `${isNew ? `Edit the rule that this plan adds before ${edited}, or add one` : `Edit ${edited}`}: set "IF User's IP is" to In zone or Not in zone, choose the zones of the Access Control Policy, and save`,
    ];
  });
  return [defineZones, ...steps];
}

function appZoneSteps(failed: readonly ByHand[], artifacts: CollectedArtifacts): readonly string[] {
  const appOf = new Map(entriesOf(artifacts.apps).map((app) => [idOf(app), app]));
  const byPolicy = Map.groupBy(failed, ({ finding }) => {
    const app = appOf.get(finding.resource.id);
    const id = app === undefined ? null : accessPolicyId(app);
    return typeof id === "string" ? id : null;
  });
  const boundTo = Map.groupBy(entriesOf(artifacts.apps).filter(isSignedInTo), accessPolicyId);
  const steps = [...byPolicy].flatMap(([policyId, items]) =>
    policyId === null
      ? items.map(({ finding }) => `Give the app "${finding.resource.name}" an authentication policy with such zones`)
      : policySteps(items, { policyId, apps: (boundTo.get(policyId) ?? []).map(nameOf), artifacts }),
  );
  return [defineZones, ...steps];
}

const accessPath = "actions.appSignOn.access";

interface BoundPolicy {
  readonly policyId: string;
  /** Names of its apps that people sign in to. */
  readonly apps: readonly string[];
  readonly artifacts: CollectedArtifacts;
}

/** The last rule comes first, so that nobody outside the zones comes to a rule that asks less of them. */
function policySteps(items: readonly ByHand[], { policyId, apps: names, artifacts }: BoundPolicy): readonly string[] {
  const apps = `Open Security > App sign-in policies (Authentication Policies) and the policy of ${quoteAll(names)}`;
  const departures = items.flatMap(({ finding }) => (isDeparture(finding) ? [finding] : []));
  const changes = [...Map.groupBy(departures, ({ expected }) => expected)].map(([said, of]) => {
    if (of.length === names.length) return `Change its rules to ${said}`;
    const moved = quoteAll(of.map(({ resource }) => resource.name));
    return `Give ${moved} another authentication policy, because the present one has other apps: ${said}`;
  });
  if (changes.length > 0) return [apps, ...changes];
  const { app_policy_rules: byId, network_zones, built_in_groups } = artifacts;
  const active = inOrder(entriesOf(byId === undefined ? null : availableValue(byId)?.[policyId])).filter(isSure);
  const allowing = active.filter((rule) => isBuiltIn(rule) !== true && accessOf(rule, accessPath) === "ALLOW");
  const everyone = everyoneIn(built_in_groups);
  const zones = readZones(network_zones);
  const open = allowing.filter(
    (rule) => judgeNetwork(new Subject(null, ""), networkConditionOf(rule, zones), "").status === "FAIL",
  );
  const catchAll = active.find((rule) => isBuiltIn(rule) === true);
  const name = catchAll === undefined ? "the Catch-all Rule" : ruleText(catchAll);
  const isClosed = catchAll !== undefined && accessOf(catchAll, accessPath) === "DENY";
  const factors = isClosed ? "for the users and with the factors that you decide" : "with its factors";
  const needsRule = isClosed ? allowing.length === 0 : allowing.every((one) => restrictionsOf(one, everyone).size > 0);
  return [
    apps,
    ...(needsRule
      ? [`Add a rule above ${name} ${factors}: set "User's IP is" to the zones of the Access Control Policy`]
      : []),
    ...(isClosed ? [] : [`Edit ${name}: set "Access is" to Denied, and sign in from one of the zones to try it`]),
    ...open
      .toReversed()
      .map((rule) => `Edit ${ruleText(rule)}: set "User's IP is" to the zones of the Access Control Policy`),
  ];
}

function effectOf(rule: JsonObject): string {
  return accessOf(rule, "actions.signon.access") === "DENY" ? "denies" : "allows";
}

function ruleText(rule: JsonObject): string {
  return `the rule "${nameOf(rule)}"`;
}
