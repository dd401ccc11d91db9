import {
  decide,
  defineCheck,
  everyoneGroup,
  rulesForEverybody,
  type Check,
  type CheckContext,
  type FindingDraft,
} from "../check.ts";
import { availableValue, entriesOf, type BuiltInApp } from "../../evidence/artifacts.ts";
import { accessPolicyId, unreadablePolicy } from "../parsing/access_policy.ts";
import { Subject } from "./finding_drafts.ts";
import { showValue } from "../parsing/fields.ts";
import { judgeByFirstRule, type RuleCriteria } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";
import { groupsFor } from "../parsing/rule_conditions.ts";
import { judgeVerification, type VerificationCriteria } from "./verification_method.ts";

/** A first-party app, by the name that the API gives it and the one that the console shows. */
interface FirstPartyApp {
  readonly name: "saasure" | "okta_enduser";
  readonly label: string;
  readonly slug: "admin_console" | "dashboard";
}

const firstPartyApps: readonly FirstPartyApp[] = [
  { name: "saasure", label: "Okta Admin Console", slug: "admin_console" },
  { name: "okta_enduser", label: "Okta Dashboard", slug: "dashboard" },
];

interface BuiltInAppDefinition {
  /** The names of the checks after `application_admin_console_` and `application_dashboard_`. */
  readonly suffix: string;
  readonly expected: string;
  readonly criteria: VerificationCriteria;
  /** Fields that decide, below `actions.appSignOn.verificationMethod` of the rule. */
  readonly fields: readonly string[];
}

/** One check for each first-party app: what the first active rule of its access policy demands of users. */
export function builtInAppChecks(definition: BuiltInAppDefinition): readonly Check[] {
  return firstPartyApps.map((app) => {
    const { suffix, expected, criteria: verification, fields } = definition;
    const artifact = `${app.slug}_app` as const;
    const judgeRule: RuleCriteria["judgeRule"] = (subject, rule) => judgeVerification(subject, rule, verification);
    return defineCheck<typeof artifact, "built_in_groups">({
      name: `application_${app.slug}_${suffix}`,
      artifacts: [artifact],
      conditionalArtifacts: (artifacts) => groupsFor(entriesOf(availableValue(artifacts[artifact])?.rules)),
      decidingFields: [
        decide(artifact, ["_links.accessPolicy.href"]),
        decide("policyRules", ["status", "priority", "actions.appSignOn.access"]),
        rulesForEverybody,
        everyoneGroup,
        decide(
          "policyRules",
          fields.map((field) => `actions.appSignOn.verificationMethod.${field}`),
        ),
      ],
      evaluate(artifacts, context) {
        const evidence = artifacts[artifact];
        const criteria = { judgeRule, groups: artifacts.built_in_groups, context };
        const unnamed = new Subject({ type: "app", id: app.name, name: app.label }, expected);
        if (evidence.state === "obtained") return [judgeApp(evidence.value, unnamed, criteria)];
        const proven = evidence.partial === null ? null : judgeApp(evidence.partial, unnamed, criteria);
        return [proven?.status === "FAIL" ? proven : unnamed.missing(evidence)];
      },
    });
  });
}

/** The finding on a first-party app, by the active rule of its access policy that comes first. */
function judgeApp(
  { app, rules }: BuiltInApp,
  unnamed: Subject,
  criteria: Pick<RuleCriteria, "judgeRule" | "groups"> & { readonly context: CheckContext },
): FindingDraft {
  if (app === null) {
    const note = "Okta shows first-party apps to Super Administrators only";
    return unnamed.noting(note).manual("missing_role", "no such app in Okta's response");
  }
  const subject = new Subject(resourceOf("app", app), unnamed.about.expected);
  const policyId = accessPolicyId(app);
  if (policyId === unreadablePolicy) return subject.unreadable(`the policy link ${showValue(app["_links"])}`);
  if (policyId === null) return withoutPolicy(subject, criteria.context);
  if (rules === null) return subject.manual("provider_error", "no answer about its policy's rules");
  if (rules.state === "missing") return subject.missing(rules);
  const draft = judgeByFirstRule(rules.value, subject, {
    ...criteria,
    accessPath: "actions.appSignOn.access",
    ifNone: "no active rule in its authentication policy",
  });
  return draft.status === "FAIL" ? { cause: { type: "policy", id: policyId }, ...draft } : draft;
}

/** On Identity Engine an app without an authentication policy is open. Classic Engine has other policies for apps, which only a person can see. */
export function withoutPolicy(subject: Subject, { engine }: CheckContext): FindingDraft {
  const found = "no authentication policy";
  if (engine === "identity") return subject.fail(found);
  const note =
    engine === "classic"
      ? "the org runs on Classic Engine, whose sign-on policies of apps this API does not show"
      : "it is not known whether the org runs on Identity Engine, where every app has a policy";
  return subject.noting(note).manual("needs_review", found);
}
