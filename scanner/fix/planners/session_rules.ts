import type { JsonList, PolicyWithRules } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { fail } from "../../checks/judging/finding_drafts.ts";
import { isBuiltIn, judgeByRuleAtPriorityOne } from "../../checks/judging/rules.ts";
import { showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { allowedZones, freeName, restrictNetwork } from "./network_zones.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, type ResourceDraft, type Value } from "../terraform.ts";
import { readWhole, unknownFields, type Source } from "../whole_objects.ts";

const zoneCheck = "signon_global_session_policy_network_zone_enforced";

const demands: Readonly<Record<string, readonly [attribute: string, value: Value]>> = {
  signon_global_session_idle_timeout_15min: ["session_idle", 15],
  signon_global_session_lifetime_18h: ["session_lifetime", 1080],
  signon_global_session_cookies_not_persistent: ["session_persistent", false],
};

export const sessionChecks: readonly string[] = [...Object.keys(demands), zoneCheck];

const signon = "actions.signon";

/** Of the deciding rule, and of a new rule that takes its place. */
const behavior: readonly Source[] = [
  { attribute: "access", path: `${signon}.access`, read: "text" },
  { attribute: "authtype", path: "conditions.authContext.authType", read: "text", ifAbsent: "ANY" },
  { attribute: "mfa_required", path: `${signon}.requireFactor`, read: "boolean" },
  { attribute: "mfa_prompt", path: `${signon}.factorPromptMode`, read: "text", ifAbsent: null },
  { attribute: "mfa_lifetime", path: `${signon}.factorLifetime`, read: "number", ifAbsent: null },
  {
    attribute: "mfa_remember_device",
    path: `${signon}.rememberDeviceByDefault`,
    read: "boolean",
    ifAbsent: false,
  },
  { attribute: "primary_factor", path: `${signon}.primaryFactor`, read: "text", ifAbsent: null },
  { attribute: "session_idle", path: `${signon}.session.maxSessionIdleMinutes`, read: "number", ifAbsent: 0 },
  { attribute: "session_lifetime", path: `${signon}.session.maxSessionLifetimeMinutes`, read: "number", ifAbsent: 0 },
  {
    attribute: "session_persistent",
    path: `${signon}.session.usePersistentCookie`,
    read: "boolean",
    ifAbsent: false,
  },
  { attribute: "network_connection", path: "conditions.network.connection", read: "text", ifAbsent: "ANYWHERE" },
  { attribute: "network_includes", path: "conditions.network.include", read: "texts", ifAbsent: null },
  { attribute: "network_excludes", path: "conditions.network.exclude", read: "texts", ifAbsent: null },
  {
    attribute: "identity_provider",
    path: "conditions.identityProvider.provider",
    read: "text",
    ifAbsent: "ANY",
  },
  {
    attribute: "identity_provider_ids",
    path: "conditions.identityProvider.idpIds",
    read: "texts",
    ifAbsent: null,
  },
];

const ownFields: readonly Source[] = [
  { attribute: "name", path: "name", read: "text" },
  { attribute: "status", path: "status", read: "text", ifAbsent: "ACTIVE" },
  { attribute: "priority", path: "priority", read: "number" },
  { attribute: "users_excluded", path: "conditions.people.users.exclude", read: "texts", ifAbsent: null },
  { attribute: "behaviors", path: "conditions.risk.behaviors", read: "texts", ifAbsent: null },
  { attribute: "risk_level", path: "conditions.riskScore.level", read: "text", ifAbsent: null },
];

const known = [...behavior, ...ownFields].map(({ path }) => path);

/** The rules about global sessions: the deciding rule of each failing policy, or a rule of its own before the built-in one. */
export function planSessionRules(draft: PlanDraft): void {
  const failed = draft.failedOf(sessionChecks);
  for (const parent of listed(draft.artifacts.global_session_policies)) {
    const ofPolicy = failed.filter(({ finding }) => finding.resource.id === idOf(parent.policy));
    if (ofPolicy.length > 0) planPolicy(draft, parent, ofPolicy);
  }
  draft.byHand(
    failed.filter(({ finding }) => finding.resource.type !== "policy"),
    "the org has no active global session policy",
  );
}

function planPolicy(draft: PlanDraft, { policy, rules }: PolicyWithRules, failed: readonly Failed[]): void {
  const all = rules === null ? [] : listed(rules);
  const [rule, ...equals] = decidingRules(all);
  if (equals.length > 0) return draft.byHand(failed, "several active rules have the priority 1");
  const isOwn = rule !== undefined && isBuiltIn(rule) === false;
  const base = rule ?? all.find((other) => isBuiltIn(other) === true);
  if (base === undefined || (isOwn && idOf(base) === null)) {
    return draft.byHand(failed, "no rule of the policy could be read");
  }
  const { attributes, missing } = readWhole(base, isOwn ? [...ownFields, ...behavior] : behavior);
  const unknown = isOwn ? unknownFields(base, ["conditions", "actions"], known) : [];
  if (missing.length > 0) return draft.byHand(failed, `the evidence does not have ${missing.join(", ")}`);
  if (unknown.length > 0) return draft.byHand(failed, `Terraform would reset ${unknown.join(", ")}`);
  if (isListed(attributes["network_includes"]) && isListed(attributes["network_excludes"])) {
    return draft.byHand(failed, "the rule includes and excludes zones, and Terraform takes one of the two");
  }
  const policyId = String(policy["id"]);
  const ofPolicy = { policy_id: policyId, ...withoutUnused(attributes) };
  const newName = freeName("STIG session", all.map(nameOf));
  const resource = draft.resource(
    {
      type: "okta_policy_rule_signon",
      name: isOwn ? identifier("rule", String(base["id"])) : identifier("session", policyId),
      title: isOwn
        ? `Rule "${nameOf(base)}" of the global session policy "${nameOf(policy)}"`
        : `New first rule of the global session policy "${nameOf(policy)}"`,
      importId: isOwn ? `${policyId}/${String(base["id"])}` : null,
      attributes: isOwn ? ofPolicy : { name: newName, status: "ACTIVE", priority: 1, ...ofPolicy },
    },
    failed,
  );
  demand(draft, resource, { failed, isNew: !isOwn });
}

function demand(
  draft: PlanDraft,
  resource: ResourceDraft,
  { failed, isNew }: { readonly failed: readonly Failed[]; readonly isNew: boolean },
): void {
  for (const { check, rule } of failed) {
    if (check === zoneCheck) {
      restrictToZones(draft, resource, [rule]);
      continue;
    }
    const [attribute, value] = demands[check] ?? [];
    if (attribute === undefined || value === undefined) continue;
    // A rule of its own is wanted even where the built-in one has the right value.
    const before = resource.attributes.get(attribute)?.value;
    const isRight = isNew && isStrictEnough(attribute, before);
    const was = isNew ? `the built-in rule has ${showValue(before)}` : `was ${showValue(before)}`;
    change(resource.attributes, attribute, isRight ? (before ?? value) : value, { rules: [rule], was });
  }
}

function isStrictEnough(attribute: string, value: Value | undefined): boolean {
  if (attribute === "session_persistent") return value === false;
  return typeof value === "number" && value >= 1 && value <= (attribute === "session_idle" ? 15 : 1080);
}

function restrictToZones(draft: PlanDraft, resource: ResourceDraft, rules: readonly string[]): void {
  const zones = allowedZones(draft, {
    name: "session_zones",
    description: "Where users may sign in from, by the Access Control Policy.",
  });
  restrictNetwork(resource, zones, rules);
  resource.warnings.add(
    "Users outside these zones fall through to the next rule of the policy, which may allow or deny them: review it too.",
  );
}

function withoutUnused(attributes: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const { network_connection: connection, network_includes, network_excludes, risk_level, ...rest } = attributes;
  return {
    ...rest,
    ...(connection === undefined ? {} : { network_connection: connection }),
    // A list that is stored beside ANYWHERE means nothing.
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

/** The active rules with priority 1, as the checks find them. */
function decidingRules(rules: JsonList): readonly JsonObject[] {
  const subject = { resource: null, expected: "" };
  return judgeByRuleAtPriorityOne(rules, subject, {
    judgeRule: (of) => fail(of, ""),
    accessPath: "actions.signon.access",
    ifNone: "",
    everyone: new Set(),
  }).deciding;
}
