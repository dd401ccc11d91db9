import type { JsonList, PolicyWithRules } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { fail } from "../../checks/evaluating/finding_drafts.ts";
import { judgeByRuleAtPriorityOne } from "../../checks/evaluating/rules.ts";
import { isBuiltIn } from "../../checks/parsing/rule_order.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { readNumber, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { everyoneIn } from "../../checks/parsing/rule_conditions.ts";
import { whyNotChanged } from "../access_model/planned_evidence.ts";
import { allowedZones, freeName, restrictNetwork, zonesProblem } from "./network_zones.ts";
import { behavior, sessionRuleSources } from "../access_model/session_rule_fields.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, type ResourceDraft, type Value } from "../terraform.ts";
import { readWhole, unknownFields } from "../whole_objects.ts";

const zoneCheck = "signon_global_session_policy_network_zone_enforced";

const demands: Readonly<Record<string, readonly [attribute: string, value: Value]>> = {
  signon_global_session_idle_timeout_15min: ["session_idle", 15],
  signon_global_session_lifetime_18h: ["session_lifetime", 1080],
  signon_global_session_cookies_not_persistent: ["session_persistent", false],
};

export const sessionChecks: readonly string[] = [...Object.keys(demands), zoneCheck];

/** The rules about global sessions: the deciding rule of each failing policy, or a new rule before the built-in one. */
export function planSessionRules(draft: PlanDraft): void {
  for (const checks of [Object.keys(demands), [zoneCheck]]) {
    const failed = draft.failedOf(checks);
    for (const parent of listed(draft.artifacts.global_session_policies)) {
      const ofPolicy = failed.filter(({ finding }) => finding.resource.id === idOf(parent.policy));
      if (ofPolicy.length === 0) continue;
      const of = { kind: "session", policyId: String(parent.policy["id"]) } as const;
      draft.attempt(ofPolicy, () => planPolicy(draft, parent, ofPolicy) ?? whyNotChanged(draft, of, ofPolicy));
    }
    draft.byHand(
      failed.filter(({ finding }) => finding.resource.type !== "policy"),
      "the org has no active global session policy",
    );
  }
}

function planPolicy(draft: PlanDraft, { policy, rules }: PolicyWithRules, failed: readonly Failed[]): string | null {
  const all = rules === null ? [] : listed(rules);
  const [rule, ...equals] = decidingRules(draft, all);
  if (equals.length > 0) return "several active rules have the same priority";
  const isOwn = rule !== undefined && isBuiltIn(rule) === false;
  const base = rule ?? all.find((other) => isBuiltIn(other) === true);
  if (base === undefined || (isOwn && idOf(base) === null)) return "no rule of the policy could be read";
  const { attributes, missing } = readWhole(base, isOwn ? sessionRuleSources : behavior);
  const known = sessionRuleSources.map(([, , path]) => path);
  const unknown = isOwn ? unknownFields(base, ["conditions", "actions"], known) : [];
  if (missing.length > 0) return `the evidence does not have ${missing.join(", ")}`;
  if (unknown.length > 0) return `Terraform would reset ${unknown.join(", ")}`;
  if (isListed(attributes["network_includes"]) && isListed(attributes["network_excludes"])) {
    return "the rule includes and excludes zones, and Terraform supports only one of them";
  }
  const policyId = String(policy["id"]);
  const ofPolicy = { policy_id: policyId, ...withoutUnused(attributes) };
  const newName = freeName("STIG session", all.map(nameOf));
  const resource = draft.resource(
    {
      type: "okta_policy_rule_signon",
      name: isOwn
        ? identifier("rule", String(base["id"]), base["name"])
        : identifier("session", policyId, policy["name"]),
      title: isOwn
        ? `Rule "${nameOf(base)}" of the global session policy "${nameOf(policy)}"`
        : `New rule before the built-in one of the global session policy "${nameOf(policy)}"`,
      importId: isOwn ? `${policyId}/${String(base["id"])}` : null,
      attributes: isOwn ? ofPolicy : { name: newName, status: "ACTIVE", priority: newPriority(all), ...ofPolicy },
    },
    failed,
  );
  resource.lifecycle = { preventDestroy: true };
  for (const { check, rule: id } of failed) {
    const problem =
      check === zoneCheck
        ? restrictToZones(draft, resource, { rules: [id], policy })
        : demand(draft, resource, { check, rule: id, isNew: !isOwn });
    if (problem !== null) return problem;
  }
  return null;
}

/** After every rule of one's own, so that it takes nobody from a rule that may be stricter. */
function newPriority(all: JsonList): number {
  const own = all.filter((rule) => isBuiltIn(rule) === false && activityOf(rule) !== "inactive");
  const places = own.map((rule) => readNumber(rule, "priority"));
  return Math.max(0, ...places.map((place) => (place.kind === "value" ? place.value : 0))) + 1;
}

function demand(
  draft: PlanDraft,
  resource: ResourceDraft,
  { check, rule, isNew }: { readonly check: string; readonly rule: string; readonly isNew: boolean },
): string | null {
  const [attribute, stigValue] = demands[check] ?? [];
  if (attribute === undefined || stigValue === undefined) return "the plan does not know the check";
  const value = draft.limitOf(check, stigValue);
  // A new rule is needed even if the built-in one has the right value.
  const before = resource.attributes.get(attribute)?.value;
  const isRight = isNew && (value === false ? before === false : isWithin(before, value));
  const was = isNew ? `the built-in rule has ${showValue(before)}` : `was ${showValue(before)}`;
  change(resource.attributes, attribute, isRight ? (before ?? value) : value, { rules: [rule], was });
  return null;
}

function isWithin(value: Value | undefined, most: Value): boolean {
  return typeof value === "number" && typeof most === "number" && value >= 1 && value <= most;
}

function restrictToZones(
  draft: PlanDraft,
  resource: ResourceDraft,
  { rules, policy }: { readonly rules: readonly string[]; readonly policy: JsonObject },
): string | null {
  const problem = zonesProblem(draft);
  if (problem !== null) return problem;
  const zones = allowedZones(draft, {
    name: identifier("session_zones", String(policy["id"]), policy["name"]),
    description: `From where users of the global session policy "${nameOf(policy)}" may sign in, by the Access Control Policy.`,
  });
  restrictNetwork(resource, zones, rules);
  resource.warnings.add(
    "Users outside these zones fall through to the next rule of the policy, which may allow or deny them: review it too.",
  );
  return null;
}

function withoutUnused(attributes: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const { network_connection: connection, network_includes, network_excludes, risk_level, ...rest } = attributes;
  return {
    ...rest,
    ...(connection === undefined ? {} : { network_connection: connection }),
    // A list that is stored with ANYWHERE has no effect.
    ...(connection === "ZONE" && network_includes !== undefined && isListed(network_includes)
      ? { network_includes }
      : {}),
    ...(connection === "ZONE" && network_excludes !== undefined && isListed(network_excludes)
      ? { network_excludes }
      : {}),
    // The provider does not read it back: written without a need, it would be a change.
    ...(risk_level === undefined || risk_level === "ANY" ? {} : { risk_level }),
  };
}

function isListed(value: Value | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** The active rules that let people in first, as the checks find them. */
function decidingRules(draft: PlanDraft, rules: JsonList): readonly JsonObject[] {
  const subject = { resource: null, expected: "" };
  return judgeByRuleAtPriorityOne(rules, subject, {
    judgeRule: (of) => fail(of, ""),
    accessPath: "actions.signon.access",
    ifNone: "",
    everyone: everyoneIn(draft.artifacts.built_in_groups),
  }).deciding;
}
