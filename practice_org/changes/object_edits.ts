import { NotPossibleError } from "../not_possible_error.ts";
import { roleAssignment } from "../objects/people_objects.ts";
import {
  addResource,
  changeDetails,
  edited,
  editResource,
  fieldOf,
  found,
  record,
  removeResource,
  targetOf,
  withField,
  withStatus,
  type ChangeEventType,
  type Draft,
  type ListName,
  type Status,
} from "./draft.ts";
import type { LogTarget } from "../log/log_events.ts";
import type { BrandWithPages, Group, OrgContents, Resource, User } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

/** Actions on everything but policies and apps in the Admin Console: each function changes the org and records its events. */

const kinds = {
  zones: { target: "NetworkZone", events: "zone" },
  authenticators: { target: "AuthenticatorConfig", events: "security.authenticator.lifecycle" },
  apiTokens: { target: "Token", events: "system.api_token" },
  logStreams: { target: "LogStream", events: "system.log_stream.lifecycle" },
  identityProviders: { target: "IdentityProvider", events: "system.idp.lifecycle" },
} as const satisfies Record<ListName, { target: string; events: string }>;

export function findResource(
  contents: OrgContents,
  list: ListName,
  what: string,
  isWanted: (item: Resource) => boolean,
): Resource {
  return found(contents[list].find(isWanted), what);
}

export function findNamed(contents: OrgContents, list: ListName, name: string): Resource {
  return findResource(contents, list, `entry ${JSON.stringify(name)}`, (item) => item["name"] === name);
}

export function isOwnZone(zone: Resource): boolean {
  return zone["system"] !== true && zone["type"] === "IP";
}

/** The first network zone that people made. */
export function ownZone(contents: OrgContents): Resource {
  return findResource(contents, "zones", "separate network zone", isOwnZone);
}

export function setStatus(draft: Draft, list: Exclude<ListName, "apiTokens">, item: Resource, status: Status): void {
  const after = editResource(draft, list, item, (old) => (old["status"] === status ? old : withStatus(old, status)));
  record(draft, `${kinds[list].events}.${status === "ACTIVE" ? "activate" : "deactivate"}`, targetIn(list, after));
}

export function update(draft: Draft, list: ListName, item: Resource, edit: (item: Resource) => Resource): void {
  const after = editResource(draft, list, item, edit);
  record(draft, `${kinds[list].events}.update`, { ...targetIn(list, after), ...changeDetails(item, after) });
}

export function create(draft: Draft, list: "apiTokens" | "logStreams" | "zones", item: Resource): void {
  const now = new Date(draft.nowMs).toISOString();
  const created = { ...item, created: now, lastUpdated: now };
  addResource(draft, list, created);
  record(draft, `${kinds[list].events}.create`, targetIn(list, created));
}

export function remove(draft: Draft, list: "apiTokens" | "logStreams" | "zones", item: Resource): void {
  removeResource(draft, list, item);
  const eventType: ChangeEventType = list === "apiTokens" ? "system.api_token.revoke" : `${kinds[list].events}.delete`;
  record(draft, eventType, targetIn(list, item));
}

function targetIn(list: ListName, item: Resource): LogTarget {
  return targetOf(kinds[list].target, item.id, String(item["name"]));
}

/** The key that an identity provider trusts: the new one is added, the old one removed. */
export function replaceIdpKey(
  draft: Draft,
  provider: Resource,
  trusted: Resource,
  key: JsonObject & { kid: string },
): void {
  const trustPath = ["protocol", "credentials", "trust"];
  const oldKid = String(fieldOf(provider, [...trustPath, "kid"]));
  if (oldKid === key.kid) throw new NotPossibleError("It trusts that certificate already");
  record(draft, "system.idp.key.create", targetOf("IdpKey", key.kid, key.kid));
  update(draft, "identityProviders", provider, (item) => ({
    ...withField(item, trustPath, fieldOf(trusted, trustPath)),
    _links: { ...(item["_links"] as JsonObject), keys: fieldOf(trusted, ["_links", "keys"]) },
  }));
  const kept = draft.contents.identityProviderKeys.filter(({ kid }) => kid !== oldKid);
  draft.contents = { ...draft.contents, identityProviderKeys: [...kept, key] };
  record(draft, "system.idp.key.delete", targetOf("IdpKey", oldKid, oldKid));
}

export function findUser(contents: OrgContents, login: string): User {
  return found(
    contents.users.find(({ user }) => loginOf(user) === login),
    `user ${login}`,
  );
}

export function findGroup(contents: OrgContents, name: string): Group {
  return found(
    contents.groups.find(({ group }) => fieldOf(group, ["profile", "name"]) === name),
    `group ${JSON.stringify(name)}`,
  );
}

export function setSuperAdmin(draft: Draft, { user, roles }: User, isHeld: boolean): void {
  const href = `${draft.site.url}/api/v1/users/${user.id}`;
  const after = withRole(roles, roleAssignment("SUPER_ADMIN", "USER", user.id, href), isHeld);
  const users = draft.contents.users.map((other) => (other.user.id === user.id ? { ...other, roles: after } : other));
  draft.contents = { ...draft.contents, users };
  record(draft, isHeld ? "user.account.privilege.grant" : "user.account.privilege.revoke", userTarget(user));
}

export function setSuperAdminGroup(draft: Draft, { group, roles }: Group, isHeld: boolean): void {
  const href = `${draft.site.url}/api/v1/groups/${group.id}`;
  const after = withRole(roles, roleAssignment("SUPER_ADMIN", "GROUP", group.id, href), isHeld);
  const groups = draft.contents.groups.map((other) =>
    other.group.id === group.id ? { ...other, roles: after } : other,
  );
  draft.contents = { ...draft.contents, groups };
  record(draft, isHeld ? "group.privilege.grant" : "group.privilege.revoke", groupTarget(group));
}

function withRole(roles: readonly Resource[], role: Resource, isHeld: boolean): readonly Resource[] {
  if (roles.some(({ id }) => id === role.id) === isHeld) throw new NotPossibleError("The role is assigned so already");
  return isHeld ? [...roles, role] : roles.filter(({ id }) => id !== role.id);
}

export function setMembership(draft: Draft, { user, groupIds }: User, { group }: Group, isMember: boolean): void {
  if (groupIds.includes(group.id) === isMember) throw new NotPossibleError("The membership is so already");
  const after = isMember ? [...groupIds, group.id] : groupIds.filter((id) => id !== group.id);
  const users = draft.contents.users.map((other) =>
    other.user.id === user.id ? { ...other, groupIds: after } : other,
  );
  const now = new Date(draft.nowMs).toISOString();
  const groups = draft.contents.groups.map((other) =>
    other.group.id === group.id ? { ...other, group: { ...group, lastMembershipUpdated: now } } : other,
  );
  draft.contents = { ...draft.contents, users, groups };
  const eventType = isMember ? "group.user_membership.add" : "group.user_membership.remove";
  record(draft, eventType, userTarget(user), groupTarget(group));
}

function loginOf(user: Resource): string {
  return String(fieldOf(user, ["profile", "login"]));
}

function userTarget(user: Resource): LogTarget {
  const name = `${String(fieldOf(user, ["profile", "firstName"]))} ${String(fieldOf(user, ["profile", "lastName"]))}`;
  return targetOf("User", user.id, name, { alternateId: loginOf(user) });
}

function groupTarget(group: Resource): LogTarget {
  return targetOf("UserGroup", group.id, String(fieldOf(group, ["profile", "name"])));
}

export function findBrand(contents: OrgContents, isWanted: (brand: Resource) => boolean): BrandWithPages {
  return found(
    contents.brands.find(({ brand }) => isWanted(brand)),
    "such brand",
  );
}

export function createBrand(draft: Draft, created: BrandWithPages): void {
  if (draft.contents.brands.some(({ brand }) => brand.id === created.brand.id)) {
    throw new NotPossibleError("The brand is there already");
  }
  draft.contents = { ...draft.contents, brands: [...draft.contents.brands, created] };
  record(draft, "system.brand.create", brandTarget(created));
}

export function deleteBrand(draft: Draft, deleted: BrandWithPages): void {
  const brands = draft.contents.brands.filter(({ brand }) => brand.id !== deleted.brand.id);
  draft.contents = { ...draft.contents, brands };
  record(draft, "system.brand.delete", brandTarget(deleted));
}

/** Null: the page that the provider shows to begin with. */
export function setSignInPage(draft: Draft, branded: BrandWithPages, html: string | null): void {
  editSignInPage(draft, branded, (old) => ({ ...old, pageContent: html }));
}

export function editSignInPage(draft: Draft, branded: BrandWithPages, edit: (page: JsonObject) => JsonObject): void {
  const page = branded.customizedPage ?? { ...branded.defaultPage, pageContent: null };
  const customizedPage = edited(draft, page, edit);
  const html = customizedPage["pageContent"] ?? null;
  const brands = draft.contents.brands.map((other) =>
    other.brand.id === branded.brand.id ? { ...other, customizedPage } : other,
  );
  draft.contents = { ...draft.contents, brands };
  record(draft, html === null ? "system.custom_signin.delete" : "system.custom_signin.update", brandTarget(branded));
}

function brandTarget({ brand }: BrandWithPages): LogTarget {
  return targetOf("Brand", brand.id, String(brand["name"]));
}
