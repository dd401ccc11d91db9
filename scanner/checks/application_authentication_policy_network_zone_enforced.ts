import { decide, defineCheck, networkFields, zoneFields, type CheckContext } from "./check.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { policyZoneUse } from "../org_policy/facts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { availableValue, entriesOf, type Artifacts, type Evidence, type JsonList } from "../evidence/artifacts.ts";
import { accessPolicyId, unreadablePolicy } from "./parsing/access_policy.ts";
import { activityOf, unknownActivity } from "./parsing/activity.ts";
import { isDirectoryApp, isOktasOwn } from "./evaluating/directory.ts";
import { withoutPolicy } from "./evaluating/built_in_app.ts";
import {
  judgeList,
  notSet,
  Subject,
  withCause,
  withNote,
  withPartialCoverage,
  type FindingDraft,
} from "./evaluating/finding_drafts.ts";
import { readText, readWord, showValue } from "./parsing/fields.ts";
import { listNames, listSome, nameOf, resourceOf, sortBy, sortTexts } from "./parsing/names.ts";
import { areAllAppsSeen } from "./parsing/whole_list.ts";
import { memoize } from "./evaluating/memoize.ts";
import { everyoneIn, groupsFor, restrictionsOf, accessOf, isBuiltIn, isSure } from "./parsing/policy_rules.ts";
import { judgeNetwork, networkConditionOf, readZones, type Zones } from "./evaluating/zones.ts";
import { compareByName, compareZones, notCovered, withDocument, type Comparison } from "../org_policy/comparison.ts";
import type { AppEntry, OrgPolicy } from "../org_policy/document.ts";

const expected = "an authentication policy whose rules all name network zones and whose catch-all rule denies";
const uncovered = "Verify that the network zones include all necessary allow and block lists";

export const applicationAuthenticationPolicyNetworkZoneEnforced = defineCheck({
  name: "application_authentication_policy_network_zone_enforced",
  artifacts: ["apps", "app_policy_rules", "network_zones"],
  // Names the policies in the findings, and says whether a rule that the document is compared with is for everybody.
  conditionalArtifacts: (
    { app_policy_rules: byId },
    { orgPolicy },
  ): readonly ("access_policies" | "built_in_groups")[] => {
    const rules = Object.values(availableValue(byId) ?? {}).flatMap(entriesOf);
    return ["access_policies", ...(orgPolicy?.apps === undefined ? [] : groupsFor(rules))];
  },
  decidingFields: [
    decide("apps", ["status", "_links.accessPolicy.href", "signOnMode", "settings.oauthClient.application_type"]),
    decide("apps", ["features"], "for the kinds of apps that are left out"),
    decide("policyRules", ["status", "system", "name", ...networkFields, "actions.appSignOn.access"]),
    zoneFields,
  ],
  leftToPerson: uncovered,
  evaluate(
    { apps, app_policy_rules: rules, network_zones, access_policies: listed, built_in_groups: groups },
    context,
  ) {
    const seen = describeApps(apps);
    const [zones, everyone] = [readZones(network_zones), everyoneIn(groups)];
    const policies = readPolicies(rules, { zones, everyone, listed: entriesOf(listed) });
    // Thousands of apps may share one policy.
    const judgeOnce = memoize((policyId: string) => judgePolicy(policyId, policies));
    const compare = createComparison(policies, entriesOf(apps), context.orgPolicy);
    const role = "the administrator role of this run";
    const hidden =
      seen.count === null ? null : `Apps that ${role} does not see were not evaluated; it sees ${seen.count}`;
    return judgeList(apps, {
      expected,
      judgeItem(app) {
        const subject = new Subject(resourceOf("app", app), expected, seen.note);
        const draft = withPartialCoverage(judgeApp(subject, app, { judgeOnce, context }), uncovered);
        const closed = draft === null ? null : withDocument(draft, context.orgPolicy, () => compare(app));
        return withPartialCoverage(closed, hidden);
      },
      judgeEmpty() {
        const org = new Subject(null, expected, seen.note);
        if (seen.count === null) return [org.manual("needs_review", "no active app that people sign in to")];
        return [org.manual("partly_automated", `no app that people sign in to; ${role} sees ${seen.count}`)];
      },
    });
  },
});

/** Apps that nobody signs in to, by kind; null for an app that people sign in to. */
function kindWithoutSignIn(app: JsonObject): "directory" | "service app" | "app without a sign-on mode" | null {
  if (readText(app, "settings.oauthClient.application_type").value === "service") return "service app";
  if (app["signOnMode"] !== null) return null;
  return isDirectoryApp(app) === true ? "directory" : "app without a sign-on mode";
}

/** True for an app that the rule is about. */
export function isSignedInTo(app: JsonObject): boolean {
  return activityOf(app) !== "inactive" && kindWithoutSignIn(app) === null;
}

/** `note`: of every finding, names the apps that are left out. `count`: how many apps were seen, in words; null if there are no others. */
function describeApps(apps: Evidence<JsonList>) {
  if (apps.state === "missing") return { count: null, note: undefined };
  const without = apps.value.filter((app) => activityOf(app) !== "inactive" && kindWithoutSignIn(app) !== null);
  const kinds = [...Map.groupBy(without, kindWithoutSignIn)].map(([kind, found]) => {
    const plural = kind === "directory" ? "directories" : kind?.replace(/^(service )?app/, "$&s");
    return `${found.length} ${found.length === 1 ? kind : plural}, ${listNames(found)}`;
  });
  const note = `left out, because nobody signs in there: ${sortTexts(kinds).join("; ")}`;
  const count = areAllAppsSeen(apps) ? null : countOf(apps.value.length, "app");
  return { count, note: kinds.length > 0 ? note : undefined };
}

interface AppContext {
  readonly judgeOnce: (policyId: string) => FindingDraft;
  readonly context: CheckContext;
}

function judgeApp(subject: Subject, app: JsonObject, { judgeOnce, context }: AppContext): FindingDraft | null {
  if (!isSignedInTo(app)) return null;
  if (activityOf(app) === "unknown") return subject.unreadable(unknownActivity(app));
  const policyId = accessPolicyId(app);
  if (policyId === unreadablePolicy) return subject.unreadable(`the policy link ${showValue(app["_links"])}`);
  if (policyId === null) return withoutPolicy(subject, context);
  const { note, ...draft } = { ...judgeOnce(policyId), resource: subject.about.resource };
  const own = isOktasOwn(app) ? withNote(draft, "this is one of Okta's own apps") : draft;
  return withNote(withNote(own, note), subject.about.note);
}

type Policies = ReturnType<typeof readPolicies>;

/** The policies of apps, as far as they are known. */
function readPolicies(
  all: Artifacts["app_policy_rules"],
  known: { readonly zones: Zones; readonly everyone: ReadonlySet<string> | null; readonly listed: JsonList },
) {
  const byId = new Map(Object.entries(availableValue(all) ?? {}));
  const names = new Map(known.listed.map((policy) => [policy["id"], nameOf(policy)]));
  /** Why rules of some policies are missing; null where all were obtained. */
  const unread = all.state === "missing" ? { ...all, partial: null } : null;
  return {
    ...known,
    unread,
    nameOfId: (id: string) => names.get(id),
    /** A policy's own evidence, no matter what is missing of others; null where it was not requested. */
    rulesOf: (id: string) => byId.get(id) ?? unread,
  };
}

/** The verdict on a policy, no matter what app is bound to it. */
function judgePolicy(policyId: string, policies: Policies): FindingDraft {
  const subject = new Subject(null, expected);
  const rules = policies.rulesOf(policyId);
  const verdict =
    rules === null
      ? subject.manual("provider_error", "no answer about its policy's rules")
      : judgeRules(subject, rules, policies.zones);
  // A policy's own rules can prove a FAIL, but no PASS, if other evidence is missing.
  if (verdict.status === "PASS" && policies.unread !== null) return subject.missing(policies.unread);
  const draft = { ...verdict, actual: inPolicy(verdict.actual, policyId, policies) };
  return draft.status === "FAIL" ? { cause: { type: "policy", id: policyId }, ...draft } : draft;
}

/** Names the policy, which is what has to be changed. */
function inPolicy(found: string, policyId: string, { nameOfId }: Pick<Policies, "nameOfId">): string {
  return `${found}, in the policy "${nameOfId(policyId) ?? policyId}"`;
}

/** Compares the zones of an app's rules with the document's. Thousands of apps may share one policy, and one entry. */
function createComparison(
  { rulesOf, zones, everyone, listed, nameOfId }: Policies,
  apps: JsonList,
  orgPolicy: OrgPolicy | undefined,
): (app: JsonObject) => Comparison {
  if (orgPolicy?.apps === undefined) return () => notCovered;
  // An app that was turned off may have the label of the one that took its place.
  const active = apps.filter((app) => activityOf(app) !== "inactive");
  const byLabel = compareByName(orgPolicy.apps, ({ app }) => app, { named: "apps with the label", objects: active });
  const named = "policies of apps with the name";
  const byPolicy = compareByName(orgPolicy.apps, ({ policy }) => policy, { named, objects: listed });
  const unnamed: Comparison = { kind: "doubtful", why: "the name of the app's policy was not read" };
  const namesPolicies = orgPolicy.apps.some(({ policy }) => policy !== undefined);
  const usesOf = memoize((id: string) => policyZoneUse(entriesOf(rulesOf(id)), { accessPath, zones, everyone }));
  const comparisonOf = memoize((entry: AppEntry) =>
    memoize((id: string): Comparison => {
      const compared = compareZones(entry, usesOf(id), zones);
      return compared.kind === "departs"
        ? { ...compared, found: inPolicy(compared.found, id, { nameOfId }) }
        : compared;
    }),
  );
  return (app) => {
    const policyId = accessPolicyId(app);
    if (typeof policyId !== "string") return notCovered;
    const compare = (entry: AppEntry) => comparisonOf(entry)(policyId);
    const name = nameOfId(policyId);
    // An entry of its policy would come before that of every other app.
    const ofPolicy = () => (name === undefined && namesPolicies ? unnamed : byPolicy(name ?? "", compare));
    return byLabel(nameOf(app), compare) ?? ofPolicy() ?? byLabel("*", compare) ?? notCovered;
  };
}

function judgeRules(subject: Subject, rules: Evidence<JsonList>, zones: Zones): FindingDraft {
  const mayBeActive = sortBy(entriesOf(rules), nameOf).filter((rule) => activityOf(rule) !== "inactive");
  const judged = mayBeActive.map((rule) => ({ rule, draft: judgeRule(subject, rule, zones) }));
  const [open, ...others] = judged.filter(({ draft }) => draft?.status === "FAIL");
  // A part of the rules can only prove that one of them is open, not that one is absent.
  if (rules.state === "missing") return open?.draft ?? subject.missing(rules);
  const custom = mayBeActive.filter((rule) => isBuiltIn(rule) === false);
  const lacking = lackingIn(mayBeActive, custom);
  if (open?.draft) {
    // One rule is what decides, where it is the only one to change. A catch-all that denies needs another rule to let people in.
    const isOnly = others.length === 0 && lacking === null;
    const isEnough = isBuiltIn(open.rule) === false || custom.some(allowsAllUsers);
    return isOnly && isEnough ? withCause(open.draft, "policy_rule", open.rule) : open.draft;
  }
  if (lacking !== null) return subject.fail(lacking);
  const unclear = judged.find(({ draft }) => draft !== null)?.draft;
  if (unclear) return unclear;
  const zoned = custom.filter((rule) => accessOf(rule, accessPath) === "ALLOW");
  if (zoned.length === 0)
    return subject.manual("needs_review", "only rules that deny, and no rule names a zone to allow");
  const restricted = zoned.map((rule) => `rule "${nameOf(rule)}" with ${networkConditionOf(rule, zones).actual}`);
  return subject.pass(`${listSome(restricted, { between: "; ", maxLength: Infinity })}, and a catch-all that denies`);
}

/** Returns the rule that the policy lacks; null unless the status and the place of each rule can be read. */
function lackingIn(rules: JsonList, custom: JsonList): string | null {
  if (!rules.every((rule) => isSure(rule) && isBuiltIn(rule) !== null)) return null;
  if (rules.length === 0) return "no active rule";
  if (custom.length === 0) return "no active rule but the catch-all";
  return custom.length === rules.length ? "no active catch-all rule" : null;
}

function allowsAllUsers(rule: JsonObject): boolean {
  const names = [...restrictionsOf(rule, null).keys()];
  return accessOf(rule, accessPath) === "ALLOW" && names.every((name) => name === "network");
}

const accessPath = "actions.appSignOn.access";

/** Null where the rule complies. */
function judgeRule(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  const name = `rule "${nameOf(rule)}"`;
  if (activityOf(rule) === "unknown") return subject.unreadable(`${unknownActivity(rule)} of ${name}`);
  const [isCatchAll, access] = [isBuiltIn(rule), accessOf(rule, accessPath)];
  if (isCatchAll === true) return judgeCatchAll(subject, rule);
  // A rule that denies lets nobody in, so it needs no zone.
  const network = judgeNetwork(subject, networkConditionOf(rule, zones), ` in ${name}`);
  const isOpen = access === "ALLOW" && network.status !== "PASS";
  const asCustom = access === "unknown" ? subject.unreadable(`the access of ${name}`) : isOpen ? network : null;
  if (isCatchAll === false) return asCustom;
  // A FAIL in either role is one.
  const isFailing = asCustom?.status === "FAIL" && judgeCatchAll(subject, rule)?.status === "FAIL";
  return isFailing ? asCustom : subject.unreadable(`${name} that may be the catch-all`);
}

function judgeCatchAll(subject: Subject, rule: JsonObject): FindingDraft | null {
  const name = `rule "${nameOf(rule)}"`;
  const access = readWord(rule, accessPath, ["ALLOW", "DENY"]);
  if (access.kind === "unreadable") return subject.unreadable(`the access ${access.found} of ${name}`);
  if (access.value === "DENY") return null;
  return subject.fail(`access ${access.value ?? notSet} in the catch-all ${name}`);
}
