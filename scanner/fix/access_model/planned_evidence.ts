import { findCheck } from "../../catalog/select_checks.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { availableValue, obtained, type CollectedArtifacts, type JsonList } from "../../evidence/artifacts.ts";
import type { Failed, PlanDraft } from "../plan_draft.ts";
import { changeOf, lossOf, plannedRules, type PolicyOf } from "./planned_policies.ts";

/**
 * Why the plan must not change the policy this way; null where it lets nobody in who was kept out, or with less, and makes
 * these findings pass. Notes who loses access.
 */
export function whyNotChanged(draft: PlanDraft, of: PolicyOf, failed: readonly Failed[]): string | null {
  const effect = changeOf(draft.artifacts, of, draft.resources());
  if (effect.kind === "violation") return effect.why;
  if (effect.lost !== null) draft.loses(lossOf(draft.artifacts, { ...of, lost: effect.lost }));
  return whyStillFailing(draft, of, failed);
}

/**
 * Why a plan does not do what it says: a finding that still fails once the policy's rules are as planned. Null where each of
 * these findings passes then, or is for a person to judge.
 */
function whyStillFailing(draft: PlanDraft, of: PolicyOf, failed: readonly Failed[]): string | null {
  const { artifacts, parameters } = draft;
  const rules = plannedRules(artifacts, of, draft.resources());
  if (rules === null) return "not all rules of the policy could be read";
  const after = withRules(artifacts, of, rules);
  for (const { check, finding } of failed) {
    const drafts = findCheck(check).evaluate(after, { ...anyContext, parameters });
    const still = drafts.find(({ status, resource }) => status === "FAIL" && resource?.id === finding.resource.id);
    if (still !== undefined) return `the change that Terraform can make does not decide: ${still.actual}`;
  }
  return null;
}

/** Neither the engine nor the time decides about a rule. */
const anyContext = { engine: "identity", evaluatedAt: "1970-01-01T00:00:00.000Z" } as const;

/** The evidence with other rules of one policy, and with the zones that a person will name for it. */
function withRules(artifacts: CollectedArtifacts, { kind, policyId }: PolicyOf, rules: JsonList): CollectedArtifacts {
  const { app_policy_rules: apps, global_session_policies: sessions, network_zones: zones } = artifacts;
  const { admin_console_app: console, dashboard_app: dashboard } = artifacts;
  const known = zones === undefined ? [] : (availableValue(zones) ?? []);
  const withZones: CollectedArtifacts = {
    ...artifacts,
    ...(zones?.state === "obtained" && { network_zones: obtained([...known, ...namedZones(rules)]) }),
  };
  if (kind === "session") {
    if (sessions?.state !== "obtained") return withZones;
    const changed = sessions.value.map((item) =>
      item.policy["id"] === policyId ? { ...item, rules: obtained(rules) } : item,
    );
    return { ...withZones, global_session_policies: obtained(changed) };
  }
  const changedConsole = withOtherRules(console, policyId, rules);
  const changedDashboard = withOtherRules(dashboard, policyId, rules);
  return {
    ...withZones,
    ...(apps?.state === "obtained" && { app_policy_rules: obtained({ ...apps.value, [policyId]: obtained(rules) }) }),
    ...(changedConsole && { admin_console_app: changedConsole }),
    ...(changedDashboard && { dashboard_app: changedDashboard }),
  };
}

type BuiltIn = CollectedArtifacts["admin_console_app"];

function withOtherRules(evidence: BuiltIn, policyId: string, rules: JsonList): BuiltIn | null {
  if (evidence?.state !== "obtained") return null;
  const { app } = evidence.value;
  return app !== null && accessPolicyId(app) === policyId ? obtained({ app, rules: obtained(rules) }) : null;
}

/** A zone of one network for each that a plan refers to, such as `var.session_zones`. */
function namedZones(rules: JsonList): JsonList {
  const text = JSON.stringify(rules);
  const names = new Set([...text.matchAll(/"((?:var|okta_network_zone)\.\w+(?:\.id)?)"/g)].map(([, name]) => name));
  const gateways = [{ type: "CIDR", value: "192.0.2.0/24" }];
  return [...names].map((name) => ({ id: name, name, type: "IP", usage: "POLICY", status: "ACTIVE", gateways }));
}
