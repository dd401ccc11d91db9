import { decide, defineCheck, everyoneGroup, rulesForEverybody, type Check, type CheckContext } from "../check.ts";
import { availableValue, entriesOf, type BuiltInApp, type CollectedArtifacts } from "../../evidence/artifacts.ts";
import { accessPolicyId, unreadablePolicy } from "../parsing/access_policy.ts";
import { Subject, type FindingDraft } from "./finding_drafts.ts";
import { showValue } from "../parsing/fields.ts";
import { judgeByFirstRule, type RuleCriteria } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";
import { groupsFor } from "../parsing/policy_rules.ts";
import { judgeVerification, type VerificationCriteria } from "./verification_method.ts";

/** First-party apps, by the name that the API gives each and the one that the console shows. */
const firstPartyApps = [
  { name: "saasure", label: "Okta Admin Console", slug: "admin_console" },
  { name: "okta_enduser", label: "Okta Dashboard", slug: "dashboard" },
] as const;

interface BuiltInAppDefinition {
  /** The names of the checks after `application_admin_console_` and `application_dashboard_`. */
  readonly suffix: string;
  readonly expected: string;
  /** Given the identity providers of smart cards, where `readsCards` and a rule names such a card. */
  readonly criteria: (cards: CollectedArtifacts["smart_card_idps"]) => VerificationCriteria;
  readonly readsCards?: true;
  /** Fields that decide, below `actions.appSignOn.verificationMethod` of the rule. */
  readonly fields: readonly string[];
}

/** One check for each first-party app: what the first active rule of its access policy demands of users. */
export function builtInAppChecks(definition: BuiltInAppDefinition): readonly Check[] {
  return firstPartyApps.map((app) => {
    const { suffix, expected, fields, readsCards = false } = definition;
    const artifact = `${app.slug}_app` as const;
    return defineCheck<typeof artifact, "built_in_groups" | "smart_card_idps">({
      name: `application_${app.slug}_${suffix}`,
      artifacts: [artifact],
      conditionalArtifacts(artifacts) {
        const rules = entriesOf(availableValue(artifacts[artifact])?.rules);
        const hasCard = readsCards && JSON.stringify(rules).includes('"smart_card_idp"');
        return [...groupsFor(rules), ...(hasCard ? ["smart_card_idps" as const] : [])];
      },
      decidingFields: [
        decide(artifact, ["_links.accessPolicy.href"]),
        decide("policyRules", ["status", "priority", "actions.appSignOn.access"]),
        rulesForEverybody,
        everyoneGroup,
        decide(
          "policyRules",
          fields.map((field) => `actions.appSignOn.verificationMethod.${field}`),
        ),
        ...(readsCards
          ? [decide("smart_card_idps", ["properties.additionalAmr"], "where a chain has a smart card")]
          : []),
      ],
      evaluate(artifacts, context) {
        const evidence = artifacts[artifact];
        const verification = definition.criteria(artifacts.smart_card_idps);
        const judgeRule: RuleCriteria["judgeRule"] = (subject, rule) => judgeVerification(subject, rule, verification);
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
