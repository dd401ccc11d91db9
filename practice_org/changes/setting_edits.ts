import { laxSessionRule, newBrand, weakApp, weakPolicy, type CertificateAuthority } from "../contents/new_objects.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { findGroup, loginOf, setMembership } from "./administrators.ts";
import { createdNow, edit, fieldOf, found, type Draft, type Found } from "./edit.ts";
import {
  addRule,
  createApp,
  createPolicy,
  deleteApp,
  deletePolicy,
  findApp,
  findBrand,
  findPolicy,
  inList,
  listed,
  moveApp,
  named,
  pagePlace,
  policyPlace,
  replaceBrand,
  replaceIdpKey,
  rulePlace,
  swapPriorities,
} from "./places.ts";
import {
  isFirstPartyApp,
  isSubdomainBrand,
  type App,
  type ListName,
  type OrgContents,
  type PolicyWithRules,
  type Resource,
} from "../contents/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

const temporaryRule = "Temporary access";
export const hrLogin = "hr@practice.example";
export const hrToken = "HR import";
export const hrGroup = "HR integrations";
export const weakLabel = "Lunch orders";
const weakPolicyName = "Password only";
export const cardProvider = inList("identityProviders", "smart card identity provider");

export function onOrOff(isOn: boolean): string {
  return isOn ? "on" : "off";
}

export function listText(items: readonly JsonObject[], path: string): string {
  return items.map((item) => String(fieldOf(item, path))).join(", ") || "none";
}

/** Rule for everyone whom no other policy names. */
export function sessionPolicy(contents: OrgContents): PolicyWithRules {
  return findPolicy(contents, "OKTA_SIGN_ON", "Default Policy");
}

export function presentRules(contents: OrgContents): string {
  const { policy, rules } = sessionPolicy(contents);
  return `${policy.name}: ${rules.map((rule) => String(rule["name"])).join(", ")}`;
}

export function addOrDeleteRule(draft: Draft, isThere: boolean): unknown {
  const parent = sessionPolicy(draft.contents);
  if (isThere) return addRule(draft, parent, { name: temporaryRule, priority: 1, ...laxSessionRule });
  const rule = parent.rules.find(({ name }) => name === temporaryRule);
  return edit(draft, rulePlace(parent, found(rule, `rule ${JSON.stringify(temporaryRule)}`)), null);
}

/** A rule that people made, of the default policy or of the first that has one: the built-in one cannot be switched off. */
export function ownRule(contents: OrgContents): Found {
  const isOwn = (rule: Resource) => rule["system"] !== true && rule["name"] !== temporaryRule;
  const others = contents.policies.filter(({ policy }) => policy.type === "OKTA_SIGN_ON");
  const parent = [sessionPolicy(contents), ...others].find(({ rules }) => rules.some(isOwn));
  const { rules } = found(parent, "separate session rule");
  return rulePlace(found(parent, ""), found(rules.find(isOwn), ""));
}

/** The first two session policies as the org had them at its start; the built-in one always comes last. */
function orderedPair(contents: OrgContents): readonly [PolicyWithRules, PolicyWithRules] {
  const own = contents.policies.filter(({ policy }) => policy.type === "OKTA_SIGN_ON" && policy["system"] !== true);
  return [found(own[0], "separate session policy"), found(own[1], "second separate session policy")];
}

function isInOrder([one, other]: readonly [PolicyWithRules, PolicyWithRules]): boolean {
  return Number(one.policy["priority"]) < Number(other.policy["priority"]);
}

export function presentOrder(contents: OrgContents): string {
  const pair = orderedPair(contents);
  return (isInOrder(pair) ? pair : pair.toReversed()).map(({ policy }) => policy.name).join(" before ");
}

export function reorder(draft: Draft, isMovedDown: boolean): void {
  const pair = orderedPair(draft.contents);
  if (isInOrder(pair) !== isMovedDown) throw new NotPossibleError("It is already set to this value");
  swapPriorities(draft, ...pair);
}

/** The one that is on at the start, or the first. */
export function automation(contents: OrgContents): Found<JsonObject> {
  const parent = contents.policies.find(({ policy }) => policy.type === "USER_LIFECYCLE");
  return policyPlace(found(parent, "automation"));
}

/** Adds an entry to a list of the org, or deletes it. */
export function entry(list: ListName, name: string, make: (draft: Draft, name: string) => Resource) {
  return (draft: Draft, isThere: boolean) =>
    isThere
      ? edit(draft, listed(list, null), createdNow(draft, make(draft, name)))
      : edit(draft, named(list, name)(draft.contents), null);
}

export function addresses(gateways: unknown): string {
  return listText(gateways as readonly JsonObject[], "value");
}

export function presentIssuer(contents: OrgContents): string {
  return String(fieldOf(cardProvider(contents).item, "protocol.credentials.trust.issuer"));
}

export function trust(draft: Draft, authority: CertificateAuthority): void {
  replaceIdpKey(draft, cardProvider(draft.contents), authority);
}

export function whence(network: unknown): string {
  return fieldOf(network, "connection") === "ANYWHERE" ? "anywhere" : "in a network zone";
}

export function presentMembers(contents: OrgContents): string {
  const { group } = findGroup(contents, hrGroup);
  const members = contents.users.filter(({ groupIds }) => groupIds.includes(group.id));
  return members.map(({ user }) => loginOf(user)).join(", ") || "none";
}

/** Settings of the service account that reads only. */
export function addOrRemoveMember(draft: Draft, isMember: boolean): void {
  const { contents } = draft;
  const reader = contents.users.find(({ roles }) => roles.some((role) => role["type"] === "READ_ONLY_ADMIN"));
  const member = found(reader, "service account that reads only");
  setMembership(draft, member, findGroup(contents, hrGroup), isMember);
}

function isWeakApp(app: App): boolean {
  return app.label === weakLabel;
}

export function hasWeakApp({ apps }: OrgContents): boolean {
  return apps.some(isWeakApp);
}

export function addOrDeleteApp(draft: Draft, isThere: boolean): void {
  if (!isThere) {
    deleteApp(draft, findApp(draft.contents, isWeakApp, `application ${weakLabel}`));
    return deleteUnusedPolicy(draft);
  }
  if (hasWeakApp(draft.contents)) throw new NotPossibleError("The application is there already");
  const policy = madeWeakPolicy(draft);
  createApp(draft, weakApp(draft.site, draft.contents.id), policy);
}

function businessApp(contents: OrgContents): Found<App> {
  const isBusiness = (app: App) => !isFirstPartyApp(app.name) && !isWeakApp(app);
  return findApp(contents, isBusiness, "business application");
}

/** Returns the access policy of an app; undefined for an app without one. */
function policyOf({ policies }: OrgContents, { item }: Found<App>): PolicyWithRules | undefined {
  const href = fieldOf(item, "_links.accessPolicy.href");
  return typeof href === "string" ? policies.find(({ policy }) => href.endsWith(`/${policy.id}`)) : undefined;
}

export function presentPolicy(contents: OrgContents): string {
  const app = businessApp(contents);
  return `${app.name}: ${policyOf(contents, app)?.policy.name ?? "none"}`;
}

export function moveBusinessApp(draft: Draft, isMoved: boolean): void {
  const app = businessApp(draft.contents);
  if (isMoved) return moveApp(draft, app, madeWeakPolicy(draft));
  moveApp(draft, app, found(policyOf(draft.contents, businessApp(draft.initial)), "such policy"));
  deleteUnusedPolicy(draft);
}

/** Made, with its own events, where none exists yet. */
function madeWeakPolicy(draft: Draft): PolicyWithRules {
  if (!draft.contents.policies.some(({ policy }) => policy.name === weakPolicyName)) {
    createPolicy(draft, weakPolicy(draft.site));
  }
  return findPolicy(draft.contents, "ACCESS_POLICY", weakPolicyName);
}

/** A policy can be deleted when no application is bound to it any more. */
function deleteUnusedPolicy(draft: Draft): void {
  const { contents } = draft;
  const weak = findPolicy(contents, "ACCESS_POLICY", weakPolicyName);
  if (!hasWeakApp(contents) && policyOf(contents, businessApp(contents)) !== weak) deletePolicy(draft, weak);
}

export function editablePage(contents: OrgContents): Found<JsonObject> {
  const isEditable = (branded: OrgContents["brands"][number]) => !isSubdomainBrand(branded, contents);
  return pagePlace(findBrand(contents, isEditable, "sign-in page that can be edited"));
}

export function banner(html: unknown): string {
  return (html ?? null) === null ? "none: the provider's own page" : "a page with a banner";
}

export function addOrDeleteBrand(draft: Draft, isThere: boolean): void {
  const made = newBrand(draft.site);
  if (isThere) return replaceBrand(draft, null, made);
  replaceBrand(
    draft,
    findBrand(draft.contents, ({ brand }) => brand.id === made.brand.id, "such brand"),
    null,
  );
}
