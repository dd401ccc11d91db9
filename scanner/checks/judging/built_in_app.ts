import type { BuiltInApp, Evidence } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { CheckContext, FindingDraft } from "../check.ts";
import { accessPolicyId, unreadablePolicy } from "../parsing/access_policy.ts";
import { fail, manual, manualForMissing, unreadable, withRemains, type Subject } from "./finding_drafts.ts";
import { shown } from "../parsing/fields.ts";
import { judgeByFirstRule, leftToNextRule } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";

/** A first-party app, by the name that the API gives it and the one that the console shows. */
export interface FirstPartyApp {
  readonly name: "saasure" | "okta_enduser";
  readonly label: string;
}

export const adminConsole: FirstPartyApp = { name: "saasure", label: "Okta Admin Console" };
export const dashboard: FirstPartyApp = { name: "okta_enduser", label: "Okta Dashboard" };

export interface BuiltInAppJudge {
  readonly app: FirstPartyApp;
  readonly expected: string;
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
}

/** One finding for a first-party app, by the active rule of its access policy that comes first. */
export function judgeBuiltInApp(
  evidence: Evidence<BuiltInApp>,
  judge: BuiltInAppJudge,
  context: CheckContext,
): readonly FindingDraft[] {
  if (evidence.state === "obtained") return [judgeApp(evidence.value, judge, context)];
  const seen = evidence.partial === null ? null : judgeApp(evidence.partial, judge, context);
  return [seen?.status === "FAIL" ? seen : manualForMissing(nameless(judge), evidence)];
}

function judgeApp({ app, rules }: BuiltInApp, judge: BuiltInAppJudge, context: CheckContext): FindingDraft {
  if (app === null) {
    const note = "first-party apps are shown to a Super Administrator only";
    return manual({ ...nameless(judge), note }, "missing_role", "no such app in the provider's answer");
  }
  const subject: Subject = { resource: resourceOf("app", app), expected: judge.expected };
  const policyId = accessPolicyId(app);
  if (policyId === unreadablePolicy) return unreadable(subject, `the policy link ${shown(app["_links"])}`);
  if (policyId === null) return withoutPolicy(subject, context);
  if (rules === null) return manual(subject, "provider_error", "no answer about its policy's rules");
  if (rules.state === "missing") return manualForMissing(subject, rules);
  const none = "no active rule in its authentication policy";
  const rulesJudge = { judgeRule: judge.judgeRule, none };
  const verdict = judgeByFirstRule(rules.value, subject, rulesJudge);
  return withRemains(verdict.draft, [leftToNextRule(verdict, subject, rulesJudge)]);
}

/** Classic Engine has no authentication policies to bind an app to; elsewhere an app without one is open. */
export function withoutPolicy(subject: Subject, context: CheckContext): FindingDraft {
  if (context.engine !== "classic") return fail(subject, "no authentication policy");
  const note = "the org runs on Classic Engine, which has no authentication policies for apps";
  return manual({ ...subject, note }, "not_applicable", "no authentication policy");
}

function nameless({ app, expected }: BuiltInAppJudge): Subject {
  return { resource: { type: "app", id: app.name, name: app.label }, expected };
}
