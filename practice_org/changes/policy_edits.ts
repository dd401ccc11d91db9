import { NotPossibleError } from "../not_possible_error.ts";
import { link } from "../objects/ids_and_links.ts";
import { policyWithRules, type RuleSpec } from "../objects/policy_objects.ts";
import { changeDetails, edited, found, record, targetOf, withStatus, type Draft, type Status } from "./draft.ts";
import type { LogTarget } from "../log/log_events.ts";
import type { OrgContents, Policy, PolicyWithRules, Resource } from "../objects/org_contents.ts";

/** Actions on policies in the Admin Console: each function changes the org and records its events. */

export function findPolicy(contents: OrgContents, type: string, name: string): PolicyWithRules {
  const isWanted = ({ policy }: PolicyWithRules) => policy.type === type && policy.name === name;
  return found(contents.policies.find(isWanted), `policy ${JSON.stringify(name)}`);
}

/** The first rule that lets people in; one that is switched off only where no other is. */
export function firstRule({ policy, rules }: PolicyWithRules): Resource {
  const ordered = rules.toSorted((a, b) => priorityOf(a) - priorityOf(b));
  const allows = (rule: Resource) => rule["status"] === "ACTIVE" && !JSON.stringify(rule["actions"]).includes('"DENY"');
  return found(ordered.find(allows) ?? ordered[0], `rule in the policy ${JSON.stringify(policy.name)}`);
}

export function updateRule(
  draft: Draft,
  parent: PolicyWithRules,
  rule: Resource,
  edit: (rule: Resource) => Resource,
): void {
  const after = edited(draft, rule, edit);
  setRules(draft, parent, (rules) => rules.map((other) => (other.id === rule.id ? after : other)));
  record(draft, "policy.rule.update", policyTarget(parent.policy), ruleTarget(parent, after));
}

export function setRuleStatus(draft: Draft, parent: PolicyWithRules, rule: Resource, status: Status): void {
  const after = edited(draft, rule, (item) => (item["status"] === status ? item : withStatus(item, status)));
  setRules(draft, parent, (rules) => rules.map((other) => (other.id === rule.id ? after : other)));
  const eventType = status === "ACTIVE" ? "policy.rule.activate" : "policy.rule.deactivate";
  record(draft, eventType, policyTarget(parent.policy), ruleTarget(parent, after));
}

export function addRule(draft: Draft, parent: PolicyWithRules, spec: RuleSpec): void {
  const { policy } = parent;
  if (parent.rules.some((rule) => rule["name"] === spec.name)) throw new NotPossibleError("The rule is there already");
  const [made] = policyWithRules(draft.site, {
    type: policy.type,
    name: policy.name,
    priority: 1,
    conditions: null,
    rules: [spec],
  }).rules;
  const now = new Date(draft.nowMs).toISOString();
  const rule: Resource = { ...found(made, "rule"), created: now, lastUpdated: now };
  // Others that come after it move down.
  setRules(draft, parent, (rules) => [
    ...rules.map((other) => (priorityOf(other) < spec.priority ? other : moved(other, 1))),
    rule,
  ]);
  record(draft, "policy.rule.add", policyTarget(policy), ruleTarget(parent, rule));
}

export function deleteRule(draft: Draft, parent: PolicyWithRules, name: string): void {
  const rule = found(
    parent.rules.find((item) => item["name"] === name),
    `rule ${JSON.stringify(name)}`,
  );
  setRules(draft, parent, (rules) =>
    rules
      .filter(({ id }) => id !== rule.id)
      .map((other) => (priorityOf(other) < priorityOf(rule) ? other : moved(other, -1))),
  );
  record(draft, "policy.rule.delete", policyTarget(parent.policy), ruleTarget(parent, rule));
}

export function updatePolicy(draft: Draft, { policy }: PolicyWithRules, edit: (policy: Policy) => Policy): void {
  const after = edited(draft, policy, edit);
  setPolicy(draft, after);
  record(draft, "policy.lifecycle.update", { ...policyTarget(after), ...changeDetails(policy, after) });
}

export function setPolicyStatus(draft: Draft, { policy }: PolicyWithRules, status: Status): void {
  const after = edited(draft, policy, (item) => (item.status === status ? item : withStatus(item, status)));
  setPolicy(draft, after);
  record(draft, status === "ACTIVE" ? "policy.lifecycle.activate" : "policy.lifecycle.deactivate", policyTarget(after));
}

/** Two policies of a type change places; each of them is updated, in one transaction. */
export function swapPriorities(draft: Draft, one: PolicyWithRules, other: PolicyWithRules): void {
  updatePolicy(draft, one, (policy) => withPriority(policy, priorityOf(other.policy)));
  updatePolicy(draft, other, (policy) => withPriority(policy, priorityOf(one.policy)));
}

export function createPolicy(draft: Draft, created: PolicyWithRules): void {
  const { policy, rules } = created;
  if (draft.contents.policies.some((other) => other.policy.id === policy.id)) {
    throw new NotPossibleError("The policy is there already");
  }
  draft.contents = { ...draft.contents, policies: [...draft.contents.policies, created] };
  record(draft, "policy.lifecycle.create", policyTarget(policy));
  for (const rule of rules) record(draft, "policy.rule.add", policyTarget(policy), ruleTarget(created, rule));
}

export function deletePolicy(draft: Draft, { policy }: PolicyWithRules): void {
  draft.contents = {
    ...draft.contents,
    policies: draft.contents.policies.filter((other) => other.policy.id !== policy.id),
  };
  record(draft, "policy.lifecycle.deactivate", policyTarget(policy));
  record(draft, "policy.lifecycle.delete", policyTarget(policy));
}

const policyTypeNames: Readonly<Record<string, string>> = {
  OKTA_SIGN_ON: "OktaSignOn",
  PASSWORD: "Password",
  ACCESS_POLICY: "AccessPolicy",
  USER_LIFECYCLE: "UserLifecycle",
};

export function policyTarget(policy: Policy): LogTarget {
  return targetOf("PolicyEntity", policy.id, policy.name, {
    detailEntry: { policyType: policyTypeNames[policy.type] },
  });
}

/** The provider writes the policy's id where other targets have a name that people use. */
function ruleTarget({ policy }: PolicyWithRules, rule: Resource): LogTarget {
  return targetOf("PolicyRule", rule.id, String(rule["name"]), { alternateId: policy.id });
}

function setPolicy(draft: Draft, policy: Policy): void {
  const policies = draft.contents.policies.map((other) =>
    other.policy.id === policy.id ? { ...other, policy } : other,
  );
  draft.contents = { ...draft.contents, policies };
}

function setRules(
  draft: Draft,
  { policy }: PolicyWithRules,
  edit: (rules: readonly Resource[]) => readonly Resource[],
): void {
  const policies = draft.contents.policies.map((other) =>
    other.policy.id === policy.id ? { ...other, rules: edit(other.rules) } : other,
  );
  draft.contents = { ...draft.contents, policies };
}

function priorityOf(item: Resource): number {
  return Number(item["priority"]);
}

/** The catch-all rule of an access policy stays at its place, the last that there is. */
function moved(rule: Resource, by: 1 | -1): Resource {
  return rule["name"] === "Catch-all Rule" ? rule : withPriority(rule, priorityOf(rule) + by);
}

function withPriority<Item extends Resource>(item: Item, priority: number): Item {
  return { ...item, priority };
}

/** The address of a policy, as apps link to it. */
export function policyLink(draft: Draft, policyId: string) {
  return link(`${draft.site.url}/api/v1/policies/${policyId}`);
}
