import { decide, everyoneGroup, rulesForEverybody } from "../deciding_fields.ts";
import type { JsonObject } from "../../../shared/json.ts";
import {
  availableValue,
  entriesOf,
  type BuiltInApp,
  type CollectedArtifacts,
  type Evidence,
} from "../../evidence/artifacts.ts";
import { defineCheck, type Check, type CheckContext, type FindingDraft } from "../check.ts";
import { accessPolicyId, unreadablePolicy } from "../parsing/access_policy.ts";
import { Subject } from "./finding_drafts.ts";
import { showValue } from "../parsing/fields.ts";
import { judgeByFirstRule } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";
import { everyoneIn, includesGroups } from "../parsing/rule_conditions.ts";
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
  readonly explain: (app: FirstPartyApp) => {
    readonly disa: string;
    readonly examines: string;
    readonly why: string;
    readonly rests_on: readonly string[];
    /** The last step in the console. */
    readonly fix: string;
    /** Below `actions.appSignOn.verificationMethod` of the rule. */
    readonly deciding_fields: readonly string[];
  };
}

/** One check for each first-party app: what the first active rule of its access policy demands of users. */
export function builtInAppChecks(definition: BuiltInAppDefinition): readonly Check[] {
  return firstPartyApps.map((app) => {
    const { suffix, expected, criteria, explain } = definition;
    const { fix, deciding_fields: fields, rests_on: reasons, ...texts } = explain(app);
    const artifact = `${app.slug}_app` as const;
    const judgeRule: AppCriteria["judgeRule"] = (subject, rule) => judgeVerification(subject, rule, criteria);
    return defineCheck<typeof artifact, "built_in_groups">({
      name: `application_${app.slug}_${suffix}`,
      artifacts: [artifact],
      conditionalArtifacts: (artifacts) => groupsOfAppRules(artifacts[artifact]),
      explanation: {
        ...texts,
        rests_on: [
          ...reasons,
          "A rule that denies lets nobody in, so the first rule that allows decides. On Classic Engine, or on an unknown engine if the app " +
            "has no policy, the result is MANUAL (`needs_review`); below Super Administrator, which alone sees the app, it is MANUAL " +
            "(`missing_role`).",
          "Left to a person: if the deciding rule has conditions, everybody else reaches the later rules. If one of them asks for less, " +
            "the result is MANUAL (`partly_automated`) and names it.",
        ],
        fix: [
          `Open Security > App sign-in policies (Authentication Policies) and the policy of the ${app.label}`,
          "Choose Actions > Edit on the top rule",
          fix,
        ],
        deciding_fields: [
          decide(artifact, ["_links.accessPolicy.href"]),
          decide("policyRules", ["status", "priority", "actions.appSignOn.access"]),
          rulesForEverybody,
          everyoneGroup,
          decide(
            "policyRules",
            fields.map((field) => `actions.appSignOn.verificationMethod.${field}`),
          ),
        ],
      },
      evaluate: (artifacts, context) => {
        const everyone = everyoneIn(artifacts.built_in_groups);
        return [judgeBuiltInApp(artifacts[artifact], { app, expected, judgeRule, everyone }, context)];
      },
    });
  });
}

interface AppCriteria {
  readonly app: FirstPartyApp;
  readonly expected: string;
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  readonly everyone: ReadonlySet<string> | null;
}

/** Which group is the one of everybody matters only where a rule names groups. */
function groupsOfAppRules(app: CollectedArtifacts["admin_console_app"]): readonly "built_in_groups"[] {
  const rules = app === undefined ? null : (availableValue(app)?.rules ?? null);
  return entriesOf(rules).some(includesGroups) ? ["built_in_groups"] : [];
}

/** One finding for a first-party app, by the active rule of its access policy that comes first. */
function judgeBuiltInApp(evidence: Evidence<BuiltInApp>, criteria: AppCriteria, context: CheckContext): FindingDraft {
  if (evidence.state === "obtained") return judgeApp(evidence.value, criteria, context);
  const proven = evidence.partial === null ? null : judgeApp(evidence.partial, criteria, context);
  return proven?.status === "FAIL" ? proven : unnamedSubject(criteria).missing(evidence);
}

function judgeApp({ app, rules }: BuiltInApp, criteria: AppCriteria, context: CheckContext): FindingDraft {
  if (app === null) {
    const note = "Okta shows first-party apps to Super Administrators only";
    return unnamedSubject(criteria).noting(note).manual("missing_role", "no such app in Okta's response");
  }
  const subject = new Subject(resourceOf("app", app), criteria.expected);
  const policyId = accessPolicyId(app);
  if (policyId === unreadablePolicy) return subject.unreadable(`the policy link ${showValue(app["_links"])}`);
  if (policyId === null) return withoutPolicy(subject, context);
  if (rules === null) return subject.manual("provider_error", "no answer about its policy's rules");
  if (rules.state === "missing") return subject.missing(rules);
  const draft = judgeByFirstRule(rules.value, subject, {
    judgeRule: criteria.judgeRule,
    accessPath: "actions.appSignOn.access",
    ifNone: "no active rule in its authentication policy",
    everyone: criteria.everyone,
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

function unnamedSubject({ app, expected }: AppCriteria): Subject {
  return new Subject({ type: "app", id: app.name, name: app.label }, expected);
}
