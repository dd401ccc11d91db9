import { NotPossibleError } from "../not_possible_error.ts";
import {
  certificateAuthorities,
  defaultPage,
  newRule,
  type CertificateAuthority,
  type RuleSpec,
} from "../contents/new_objects.ts";
import {
  createdNow,
  edit,
  fieldOf,
  found,
  record,
  replaced,
  setField,
  targetOf,
  withField,
  type Draft,
  type Found,
  type Place,
} from "./edit.ts";
import type { LogTarget } from "../log/system_log.ts";
import type {
  App,
  ListName,
  BrandWithPages,
  OrgContents,
  Policy,
  PolicyWithRules,
  Resource,
} from "../contents/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

/** Objects of the org where edits find them. */

const idOf = ({ id }: Resource) => id;

export function listed<Item extends Resource | null>(list: ListName, item: Item): Place & { readonly item: Item } {
  return {
    kind: list,
    item,
    name: String(item?.["name"]),
    put: (contents, after) => ({ ...contents, [list]: replaced(contents[list], item, after, idOf) }),
    targets: (one) => [targetOf(list, one.id, String(one["name"]))],
    verbs: ["create", list === "apiTokens" ? "revoke" : "delete"],
    hasDetails: true,
  };
}

export function inList(list: ListName, what: string, isWanted: (item: Resource) => boolean = () => true) {
  return (contents: OrgContents): Found => listed(list, found(contents[list].find(isWanted), what));
}

export function named(list: ListName, name: string) {
  return inList(list, `entry ${JSON.stringify(name)}`, (item) => item["name"] === name);
}

/** The settings of the Admin Console, which are logged as an update of its app. */
export function adminConsole(contents: OrgContents): Found<JsonObject> {
  return {
    kind: "apps",
    item: contents.adminConsoleSettings,
    name: "Admin Console",
    put: (whole, after) => ({ ...whole, adminConsoleSettings: after ?? {} }),
    targets: () => [appTarget(findApp(contents, ({ name }) => name === "saasure", "Admin Console").item)],
    hasDetails: true,
  };
}

export function findPolicy(contents: OrgContents, type: string, name: string): PolicyWithRules {
  const isWanted = ({ policy }: PolicyWithRules) => policy.type === type && policy.name === name;
  return found(contents.policies.find(isWanted), `policy ${JSON.stringify(name)}`);
}

const policyTypeNames: Readonly<Record<string, string>> = {
  OKTA_SIGN_ON: "OktaSignOn",
  PASSWORD: "Password",
  ACCESS_POLICY: "AccessPolicy",
  USER_LIFECYCLE: "UserLifecycle",
};

function policyTarget(policy: Policy): LogTarget {
  return targetOf("policies", policy.id, policy.name, { detailEntry: { policyType: policyTypeNames[policy.type] } });
}

export function policyPlace(parent: PolicyWithRules): Found<Policy> {
  return {
    kind: "policies",
    item: parent.policy,
    name: parent.policy.name,
    put: (contents, policy) => withPolicy(contents, parent, policy === null ? null : { ...parent, policy }),
    targets: (policy) => [policyTarget(policy)],
    hasDetails: true,
  };
}

function withPolicy(contents: OrgContents, before: PolicyWithRules | null, after: PolicyWithRules | null): OrgContents {
  return { ...contents, policies: replaced(contents.policies, before, after, ({ policy }) => policy.id) };
}

export function createPolicy(draft: Draft, created: PolicyWithRules): void {
  draft.contents = withPolicy(draft.contents, null, created);
  record(draft, "policies", "create", policyTarget(created.policy));
  for (const rule of created.rules) record(draft, "rules", "add", ...rulePlace(created, rule).targets(rule));
}

export function deletePolicy(draft: Draft, parent: PolicyWithRules): void {
  record(draft, "policies", "deactivate", policyTarget(parent.policy));
  edit(draft, policyPlace(parent), null);
}

/** Rules that come after a new or deleted one move. */
export function rulePlace<Item extends Resource | null>(
  parent: PolicyWithRules,
  item: Item,
): Place & { readonly item: Item } {
  const { policy } = parent;
  return {
    kind: "rules",
    item,
    name: `${policy.name}, ${String(item?.["name"])}`,
    put(contents, after) {
      const by = item === null ? 1 : after === null ? -1 : 0;
      const place = Number((item ?? after)?.["priority"]);
      const isBehind = (rule: Resource) =>
        rule !== item && priorityOf(rule) >= place && rule["name"] !== "Catch-all Rule";
      const rules = parent.rules.map((rule) => (isBehind(rule) ? withPriority(rule, priorityOf(rule) + by) : rule));
      return withPolicy(contents, parent, { ...parent, rules: replaced(rules, item, after, idOf) });
    },
    // The provider writes the policy's id where other targets have a name that people use.
    targets: (rule) => [
      policyTarget(policy),
      targetOf("rules", rule.id, String(rule["name"]), { alternateId: policy.id }),
    ],
    verbs: ["add", "delete"],
  };
}

/** The first rule that lets people in; one that is switched off only where no other is. */
export function firstRule(parent: PolicyWithRules): Found {
  const ordered = parent.rules.toSorted((a, b) => priorityOf(a) - priorityOf(b));
  const allows = (rule: Resource) => rule["status"] === "ACTIVE" && !JSON.stringify(rule["actions"]).includes('"DENY"');
  const rule = ordered.find(allows) ?? ordered[0];
  return rulePlace(parent, found(rule, `rule in the policy ${JSON.stringify(parent.policy.name)}`));
}

export function addRule(draft: Draft, parent: PolicyWithRules, spec: RuleSpec): Resource | null {
  return edit(draft, rulePlace(parent, null), createdNow(draft, newRule(draft.site, parent, spec)));
}

function priorityOf(item: Resource): number {
  return Number(item["priority"]);
}

function withPriority<Item extends Resource>(item: Item, priority: number): Item {
  return { ...item, priority };
}

/** Two policies of a type change places; each of them is updated, in one transaction. */
export function swapPriorities(draft: Draft, one: PolicyWithRules, other: PolicyWithRules): void {
  edit(draft, policyPlace(one), withPriority(one.policy, priorityOf(other.policy)));
  edit(draft, policyPlace(other), withPriority(other.policy, priorityOf(one.policy)));
}

export function findApp({ apps }: OrgContents, isWanted: (app: App) => boolean, what: string): Found<App> {
  return appPlace(found(apps.find(isWanted), what));
}

function appPlace<Item extends App | null>(item: Item): Place<App> & { readonly item: Item } {
  return {
    kind: "apps",
    item,
    name: String(item?.label),
    put: (contents, after) => ({ ...contents, apps: replaced<App>(contents.apps, item, after, idOf) }),
    targets: (app) => [appTarget(app)],
  };
}

function appTarget({ id, label, signOnMode }: App): LogTarget {
  return targetOf("apps", id, label, { alternateId: label, detailEntry: { signOnModeType: signOnMode } });
}

export function createApp(draft: Draft, app: App, { policy }: PolicyWithRules): void {
  edit(draft, appPlace(null), createdNow(draft, app));
  record(draft, "mappings", "create", policyTarget(policy), appTarget(app));
  record(draft, "apps", "activate", appTarget(app));
}

export function deleteApp(draft: Draft, place: Found<App>): void {
  record(draft, "apps", "deactivate", appTarget(place.item));
  edit(draft, place, null);
}

export function moveApp(draft: Draft, place: Found<App>, { policy }: PolicyWithRules): void {
  record(draft, "mappings", "create", policyTarget(policy), appTarget(place.item));
  setField(draft, place, "_links.accessPolicy", { href: `${draft.site.url}/api/v1/policies/${policy.id}` });
}

export function findBrand(contents: OrgContents, isWanted: (branded: BrandWithPages) => boolean, what: string) {
  return found(contents.brands.find(isWanted), what);
}

function withBrand(contents: OrgContents, before: BrandWithPages | null, after: BrandWithPages | null): OrgContents {
  return { ...contents, brands: replaced(contents.brands, before, after, ({ brand }) => brand.id) };
}

/** Null: there is none before, or none after. */
export function replaceBrand(draft: Draft, before: BrandWithPages | null, after: BrandWithPages | null): void {
  draft.contents = withBrand(draft.contents, before, after);
  if (after !== null) record(draft, "brands", "create", brandTarget(after));
  else if (before !== null) record(draft, "brands", "delete", brandTarget(before));
}

function brandTarget({ brand }: BrandWithPages): LogTarget {
  return targetOf("brands", brand.id, String(brand["name"]));
}

export function pagePlace(branded: BrandWithPages): Found<JsonObject> {
  return {
    kind: "pages",
    item: branded.customizedPage ?? { ...defaultPage, pageContent: null },
    name: String(branded.brand["name"]),
    put: (contents, customizedPage) => withBrand(contents, branded, { ...branded, customizedPage }),
    targets: () => [brandTarget(branded)],
  };
}

/** The key that an identity provider trusts: the new one is added, the old one removed. */
export function replaceIdpKey(draft: Draft, provider: Found, authority: CertificateAuthority): void {
  const path = "protocol.credentials.trust";
  const { trust, key } = certificateAuthorities[authority];
  const oldKid = String(fieldOf(provider.item, `${path}.kid`));
  if (oldKid === key.kid) throw new NotPossibleError("It trusts that certificate already");
  record(draft, "idpKeys", "create", targetOf("idpKeys", key.kid, key.kid));
  const href = `${draft.site.url}/api/v1/idps/credentials/keys/${key.kid}`;
  edit(draft, provider, withField(withField(provider.item, path, trust), "_links.keys.href", href));
  const kept = draft.contents.identityProviderKeys.filter(({ kid }) => kid !== oldKid);
  draft.contents = { ...draft.contents, identityProviderKeys: [...kept, key] };
  record(draft, "idpKeys", "delete", targetOf("idpKeys", oldKid, oldKid));
}
