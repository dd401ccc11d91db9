import { decide, defineCheck, everyoneGroup, rulesForEverybody, type Check, type CheckContext } from "../check.ts";
import { availableValue, entriesOf, type BuiltInApp, type CollectedArtifacts } from "../../evidence/artifacts.ts";
import { accessPolicyId, unreadablePolicy } from "../parsing/access_policy.ts";
import { Subject, type FindingDraft, worstOf } from "./finding_drafts.ts";
import { showValue, readObject, readText } from "../parsing/fields.ts";
import { judgeByFirstRule, type RuleCriteria } from "./rules.ts";
import { resourceOf, nameOf, sortBy } from "../parsing/names.ts";
import { groupsFor } from "../parsing/policy_rules.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { describePath, readChains, type ChainPath } from "../parsing/authentication_chains.ts";

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

interface VerificationCriteria {
  /** The method ASSURANCE: factors and constraints. */
  readonly assurance: (subject: Subject, method: JsonObject) => FindingDraft;
  /** The method AUTH_METHOD_CHAIN: the verdict on a path that a user may take, given its words. */
  readonly judgePath: (subject: Subject, path: ChainPath, words: string) => FindingDraft;
  /** The words for paths that are all good, given those of each. */
  readonly ifGood: (paths: readonly string[]) => string;
  /** The sentence that good chains leave to a person: they are no choice that DISA names. */
  readonly chainsLeft: string;
}

/** Demands of a rule that allows, in an access policy; other methods are for a person to judge. */
function judgeVerification(subject: Subject, rule: JsonObject, criteria: VerificationCriteria): FindingDraft {
  const draft = judgeMethod(subject, rule, criteria);
  return { ...draft, actual: `${draft.actual} in rule "${nameOf(rule)}"` };
}

function judgeMethod(subject: Subject, rule: JsonObject, criteria: VerificationCriteria): FindingDraft {
  const method = readObject(rule, "actions.appSignOn.verificationMethod");
  if (method.kind === "absent") return subject.fail("no verification method set");
  if (method.kind === "unreadable") return subject.unreadable(`the verification method ${method.found}`);
  const type = readText(method.value, "type");
  if (type.kind === "unreadable") return subject.unreadable(`the method type ${type.found}`);
  // Answers from before chains existed carry no type.
  const word = type.value ?? "ASSURANCE";
  if (word === "ASSURANCE") return criteria.assurance(subject, method.value);
  if (word !== "AUTH_METHOD_CHAIN") return subject.manual("needs_review", `the verification method ${word}`);
  const { paths, unread } = readChains(method.value);
  if (paths.length === 0 && unread === null) return subject.fail("no authentication chain");
  // Chains are alternatives, so the FAIL of one stands no matter what the others are.
  const draft = judgePaths(subject, paths, criteria);
  return draft.status === "FAIL" || unread === null ? draft : subject.unreadable(`the chains ${unread}`);
}

/** Paths are alternatives, so the worst one counts. */
function judgePaths(
  subject: Subject,
  paths: readonly ChainPath[],
  { judgePath, ifGood, chainsLeft }: VerificationCriteria,
): FindingDraft {
  const described = sortBy(
    paths.map((path) => ({ path, words: describePath(path) })),
    ({ words }) => words,
  );
  const drafts = described.map(({ path, words }) => judgePath(subject, path, words));
  const good = subject.pass(ifGood(described.map(({ words }) => words)), chainsLeft);
  const unread = drafts.filter((draft) => draft.status === "MANUAL" && draft.reason === "unreadable");
  return worstOf([...unread, ...drafts.filter(({ status }) => status !== "PASS")]) ?? good;
}
