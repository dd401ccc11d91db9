import type { ArtifactName } from "../evidence/artifacts.ts";
import type { KnownAnswers } from "../evidence/remembered_answers.ts";
import { hasHappened, type LogEvent, type LogTarget } from "./log_event.ts";

/** Evidence that an event of the log makes doubtful. Verdicts never come from an event, only from what is then read again. */
export interface Touch {
  readonly artifacts: readonly ArtifactName[];
  /** Answers that have to be read again, by their path. */
  readonly paths: readonly string[];
  /** Single entries of the app lists that have to be read again. */
  readonly apps: readonly string[];
}

/** A family of event types: anything that begins with its prefix, known or not, touches its artifacts. */
interface Family {
  readonly prefix: string;
  /** Beginnings of types within it that report traffic or attempts, and change nothing. */
  readonly ignored?: readonly string[];
  readonly touch: (event: LogEvent, known: KnownAnswers) => Touch;
}

const policyLists = {
  global_session_policies: "/api/v1/policies?type=OKTA_SIGN_ON",
  password_policies: "/api/v1/policies?type=PASSWORD",
  user_lifecycle_policies: "/api/v1/policies?type=USER_LIFECYCLE",
} as const;
const accessPolicies = "/api/v1/policies?type=ACCESS_POLICY";
const settingsPath = "/api/v1/first-party-app-settings/admin-console";
const appRuleArtifacts: readonly ArtifactName[] = ["app_policy_rules", "admin_console_app", "dashboard_app"];
const policyArtifacts: readonly ArtifactName[] = [
  "global_session_policies",
  "password_policies",
  "user_lifecycle_policies",
  "access_policies",
  ...appRuleArtifacts,
];
const appArtifacts: readonly ArtifactName[] = ["apps", ...appRuleArtifacts, "admin_console_settings"];

const families: readonly Family[] = [
  {
    prefix: "policy.",
    ignored: [
      "policy.evaluate_sign_on",
      "policy.scheduled.",
      "policy.rule.action.",
      "policy.execute.",
      "policy.auth_reevaluate.",
      "policy.continuous_access.",
      "policy.entity_risk.",
    ],
    touch: policyTouch,
  },
  { prefix: "application.lifecycle.", touch: appTouch },
  {
    prefix: "application.configuration.",
    ignored: [
      "application.configuration.detect_error",
      "application.configuration.read_client_secret",
      "application.configuration.reset_logo",
      "application.configuration.update_logo",
    ],
    touch: appTouch,
  },
  { prefix: "application.policy.", ignored: ["application.policy.sign_on.deny_access"], touch: appPolicyTouch },
  { prefix: "app.policy.", touch: appPolicyTouch },
  { prefix: "security.authenticator.", touch: lists("authenticators", "/api/v1/authenticators") },
  { prefix: "system.mfa.factor.", touch: lists("authenticators", "/api/v1/authenticators") },
  { prefix: "system.custom_signin.", touch: pageTouch },
  { prefix: "system.brand.", touch: brandTouch },
  { prefix: "system.custom_url_domain.", ignored: ["system.custom_url_domain.cert_"], touch: brandTouch },
  { prefix: "zone.", touch: lists("network_zones", "/api/v1/zones?") },
  { prefix: "security.zone.", touch: lists("network_zones", "/api/v1/zones?") },
  // A rule that the provider turned off because of its zone.
  {
    prefix: "network_zone.",
    touch: (event, known) => joined([wholePolicies(known), lists("network_zones", "/api/v1/zones?")(event, known)]),
  },
  {
    prefix: "system.api_token.",
    ignored: ["system.api_token.request_outside_allowed_range"],
    touch: (event, known) => ({
      ...lists("api_tokens", "/api/v1/api-tokens")(event, known),
      artifacts: tokenArtifacts,
    }),
  },
  { prefix: "user.account.privilege.", touch: userRolesTouch },
  { prefix: "group.privilege.", touch: groupRolesTouch },
  {
    prefix: "group.user_membership.",
    ignored: ["group.user_membership.rule."],
    touch: membershipTouch,
  },
  { prefix: "iam.resourceset.", touch: allRolesTouch },
  { prefix: "iam.role.", ignored: ["iam.role.subscriptions."], touch: allRolesTouch },
  { prefix: "system.log_stream.", touch: lists("log_streams", "/api/v1/logStreams?") },
  { prefix: "system.idp.key.", touch: idpKeyTouch },
  { prefix: "system.idp.", ignored: ["system.idp.lifecycle.read_client_secret"], touch: idpTouch },
];

const tokenArtifacts: readonly ArtifactName[] = ["api_tokens", "api_token_owners"];

/** Null for an event that changes nothing that a check reads. */
export function touchOf(event: LogEvent, known: KnownAnswers): Touch | null {
  const family = families.find(({ prefix }) => event.type.startsWith(prefix));
  if (family === undefined || !hasHappened(event)) return null;
  if (family.ignored?.some((prefix) => event.type.startsWith(prefix)) === true) return null;
  return family.touch(event, known);
}

/**
 * Filters of the log in the order in which they are tried: a provider may refuse a long one. The last is empty. An
 * event is judged by `touchOf` no matter what the filter passed.
 */
export const logFilters: readonly (string | null)[] = [longFilter(), shortFilter(), null];

function longFilter(): string {
  return families
    .map(({ prefix, ignored = [] }) => {
      const wanted = `eventType sw "${prefix}"`;
      const traffic = ignored.filter((type) => !type.endsWith(".")).map((type) => ` and eventType ne "${type}"`);
      return traffic.length === 0 ? wanted : `(${wanted}${traffic.join("")})`;
    })
    .join(" or ");
}

function shortFilter(): string {
  const roots = new Set(families.map(({ prefix }) => `${prefix.split(".", 1)[0]}.`));
  return [...roots].map((root) => `eventType sw "${root}"`).join(" or ");
}

function lists(artifact: ArtifactName, path: string): Family["touch"] {
  return (_event, known) => ({ ...nothing, artifacts: [artifact], paths: known.paths(path) });
}

const nothing: Touch = { artifacts: [], paths: [], apps: [] };

/** For the policy that the target names: its own rules for a rule, the list that holds it for the policy itself. */
function policyTouch(event: LogEvent, known: KnownAnswers): Touch {
  if (event.type.startsWith("policy.mapping.")) return appPolicyTouch(event, known);
  const targets = event.targets.filter(isPolicy);
  const isRule = event.type.startsWith("policy.rule.");
  const isLifecycle = event.type.startsWith("policy.lifecycle.");
  if (targets.length === 0 || (!isRule && !isLifecycle)) return wholePolicies(known);
  return joined(targets.map((target) => onePolicy(target, { isRule, known })));
}

function onePolicy(
  target: LogTarget,
  { isRule, known }: { readonly isRule: boolean; readonly known: KnownAnswers },
): Touch {
  const rules = known.paths(rulesPath(target.id));
  const list = (Object.keys(policyLists) as (keyof typeof policyLists)[]).find((name) =>
    known.holds(policyLists[name], target.id),
  );
  if (list !== undefined) {
    const paths = isRule && rules.length > 0 ? rules : known.paths(policyLists[list]);
    return { ...nothing, artifacts: [list], paths };
  }
  // The policies of apps: an event that is not about a rule may change the name.
  if (rules.length > 0 && isRule) return { ...nothing, artifacts: appRuleArtifacts, paths: rules };
  if (rules.length > 0) {
    const paths = [...rules, ...known.paths(accessPolicies)];
    return { ...nothing, artifacts: [...appRuleArtifacts, "access_policies"], paths };
  }
  return newPolicy(target, known);
}

function newPolicy({ policyType }: LogTarget, known: KnownAnswers): Touch {
  if (policyType === null) return wholePolicies(known);
  const name = policyType.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
  if (name === "oktasignon") return listOf("global_session_policies", known);
  if (name === "password") return listOf("password_policies", known);
  if (name === "userlifecycle") return listOf("user_lifecycle_policies", known);
  // No app is bound to it, until an event says so.
  if (name === "accesspolicy")
    return { ...nothing, artifacts: ["access_policies"], paths: known.paths(accessPolicies) };
  // Policies that no check reads.
  const isUnread = ["mfaenroll", "profileenrollment", "idpdiscovery", "postauthsession", "entityrisk"];
  return isUnread.includes(name) ? { ...nothing, artifacts: [] } : wholePolicies(known);
}

function listOf(artifact: keyof typeof policyLists, known: KnownAnswers): Touch {
  return { ...nothing, artifacts: [artifact], paths: known.paths(policyLists[artifact]) };
}

function wholePolicies(known: KnownAnswers): Touch {
  return { ...nothing, artifacts: policyArtifacts, paths: known.paths("/api/v1/policies") };
}

function rulesPath(id: string): string {
  return `/api/v1/policies/${encodeURIComponent(id)}/rules`;
}

function isPolicy({ id, type }: LogTarget): boolean {
  return type === "PolicyEntity" || type === "Policy" || id.startsWith("00p") || id.startsWith("rst");
}

function isApp({ id, type }: LogTarget): boolean {
  return type === "AppInstance" || id.startsWith("0oa");
}

/** The settings of the console belong to its app; the log has no separate type for them. */
function appTouch(event: LogEvent, known: KnownAnswers): Touch {
  const apps = event.targets.filter(isApp);
  if (apps.length === 0) return wholeApps(known);
  const isConsole = apps.some(
    ({ id, name }) => known.isNamed("/api/v1/apps?", id, "saasure") || name === "Okta Admin Console",
  );
  const touch: Touch = { artifacts: ["apps", ...appRuleArtifacts], paths: [], apps: apps.map(({ id }) => id) };
  if (!isConsole) return touch;
  return { ...touch, artifacts: appArtifacts, paths: known.paths(settingsPath) };
}

/**
 * `policy.mapping.*` binds an app to a policy, `application.policy.*` changes a policy's rules, and `app.policy.*` may be
 * either. What an event may mean and does not name is read whole.
 */
function appPolicyTouch(event: LogEvent, known: KnownAnswers): Touch {
  const apps = event.targets.filter(isApp);
  const policies = event.targets.filter(isPolicy);
  const mayBind = !event.type.startsWith("application.policy.");
  const mayChangeRules = !event.type.startsWith("policy.mapping.");
  const binding: Touch =
    apps.length === 0
      ? wholeApps(known)
      : { artifacts: ["apps", ...appRuleArtifacts], paths: [], apps: apps.map(({ id }) => id) };
  const rules = policies.length === 0 ? allRules(known) : policies.flatMap(({ id }) => known.paths(rulesPath(id)));
  return joined([
    ...(mayBind ? [binding] : []),
    ...(mayChangeRules ? [{ ...nothing, artifacts: appRuleArtifacts, paths: rules }] : []),
  ]);
}

function allRules(known: KnownAnswers): readonly string[] {
  return known.paths("/api/v1/policies/").filter((path) => path.endsWith("/rules"));
}

function wholeApps(known: KnownAnswers): Touch {
  return {
    artifacts: appArtifacts,
    paths: [...known.paths("/api/v1/apps?"), ...known.paths(settingsPath)],
    apps: [],
  };
}

/** The sign-in pages of the brand that is named; of all of them where none is. */
function pageTouch(event: LogEvent, known: KnownAnswers): Touch {
  const brands = event.targets.filter(({ type, id }) => type === "Brand" || known.holds("/api/v1/brands?", id));
  const paths =
    brands.length === 0
      ? known.paths("/api/v1/brands/")
      : brands.flatMap(({ id }) => known.paths(`/api/v1/brands/${encodeURIComponent(id)}/`));
  return { ...nothing, artifacts: ["brand_sign_in_pages"], paths };
}

/** A brand that is new has pages that were never read. */
function brandTouch(event: LogEvent, known: KnownAnswers): Touch {
  const touch = pageTouch(event, known);
  return { ...touch, paths: [...known.paths("/api/v1/brands?"), ...touch.paths] };
}

function userRolesTouch(event: LogEvent, known: KnownAnswers): Touch {
  const users = event.targets.filter(({ type, id }) => type === "User" || id.startsWith("00u"));
  if (users.length === 0) return allRolesTouch(event, known);
  // An administrator who owns no token is judged by no check.
  return owners(users.flatMap(({ id }) => known.paths(`/api/v1/users/${encodeURIComponent(id)}/roles`)));
}

function groupRolesTouch(event: LogEvent, known: KnownAnswers): Touch {
  const groups = event.targets.filter(({ type, id }) => type === "UserGroup" || id.startsWith("00g"));
  if (groups.length === 0) return allRolesTouch(event, known);
  return owners(groups.flatMap(({ id }) => known.paths(`/api/v1/groups/${encodeURIComponent(id)}/roles`)));
}

/** Only where the member owns a token: everybody else's groups are read by no check. */
function membershipTouch(event: LogEvent, known: KnownAnswers): Touch {
  const users = event.targets.filter(({ type, id }) => type === "User" || id.startsWith("00u"));
  if (users.length === 0) return owners(known.paths("/api/v1/users/").filter((path) => path.endsWith("/groups")));
  return owners(users.flatMap(({ id }) => known.paths(`/api/v1/users/${encodeURIComponent(id)}/groups`)));
}

function allRolesTouch(_event: LogEvent, known: KnownAnswers): Touch {
  return owners([...known.paths("/api/v1/users/"), ...known.paths("/api/v1/groups/")]);
}

function owners(paths: readonly string[]): Touch {
  return { ...nothing, artifacts: paths.length === 0 ? [] : ["api_token_owners"], paths };
}

function idpTouch(_event: LogEvent, known: KnownAnswers): Touch {
  return { ...nothing, artifacts: ["smart_card_idps", "saml_idps"], paths: known.paths("/api/v1/idps?") };
}

function idpKeyTouch(event: LogEvent, known: KnownAnswers): Touch {
  const keys = "/api/v1/idps/credentials/keys/";
  const named = event.targets.flatMap(({ id }) => known.paths(`${keys}${encodeURIComponent(id)}`));
  return { ...nothing, artifacts: ["smart_card_idps"], paths: named.length > 0 ? named : known.paths(keys) };
}

function joined(touches: readonly Touch[]): Touch {
  return {
    artifacts: [...new Set(touches.flatMap(({ artifacts }) => artifacts))],
    paths: [...new Set(touches.flatMap(({ paths }) => paths))],
    apps: [...new Set(touches.flatMap(({ apps }) => apps))],
  };
}
