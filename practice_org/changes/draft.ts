import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { LogEventSpec, LogTarget } from "../log/log_events.ts";
import type { OrgContents, Resource, Site } from "../objects/org_contents.ts";
import { NotPossibleError } from "../not_possible_error.ts";

/** A change while it is being made: the org as it becomes, and the events that the log gets of it. */
export interface Draft {
  contents: OrgContents;
  /** The org as it was when it started. */
  readonly initial: OrgContents;
  readonly site: Site;
  readonly nowMs: number;
  readonly events: LogEventSpec[];
}

/** Names of the events on the log's own page. */
const displayMessages = {
  "application.lifecycle.activate": "Activate application",
  "application.lifecycle.create": "Create application",
  "application.lifecycle.deactivate": "Deactivate application",
  "application.lifecycle.delete": "Delete application",
  "application.lifecycle.update": "Update application",
  "group.privilege.grant": "Grant group privilege",
  "group.privilege.revoke": "Revoke group privilege",
  "group.user_membership.add": "Add user to group membership",
  "group.user_membership.remove": "Remove user from group membership",
  "policy.lifecycle.activate": "Activate policy",
  "policy.lifecycle.create": "Create policy",
  "policy.lifecycle.deactivate": "Deactivate policy",
  "policy.lifecycle.delete": "Delete policy",
  "policy.lifecycle.update": "Update policy",
  "policy.mapping.create": "Create policy mapping",
  "policy.rule.activate": "Activate policy rule",
  "policy.rule.add": "Add policy rule",
  "policy.rule.deactivate": "Deactivate policy rule",
  "policy.rule.delete": "Delete policy rule",
  "policy.rule.update": "Update policy rule",
  "security.authenticator.lifecycle.activate": "Activate authenticator",
  "security.authenticator.lifecycle.deactivate": "Deactivate authenticator",
  "security.authenticator.lifecycle.update": "Update authenticator",
  "system.api_token.create": "Create API token",
  "system.api_token.revoke": "Revoke API token",
  "system.api_token.update": "Update API token",
  "system.brand.create": "Create brand",
  "system.brand.delete": "Delete brand",
  "system.custom_signin.delete": "Delete custom sign-in page",
  "system.custom_signin.update": "Update custom sign-in page",
  "system.idp.key.create": "Create identity provider key",
  "system.idp.key.delete": "Delete identity provider key",
  "system.idp.lifecycle.activate": "Activate identity provider",
  "system.idp.lifecycle.deactivate": "Deactivate identity provider",
  "system.idp.lifecycle.update": "Update identity provider",
  "system.log_stream.lifecycle.activate": "Activate log stream",
  "system.log_stream.lifecycle.create": "Create log stream",
  "system.log_stream.lifecycle.deactivate": "Deactivate log stream",
  "system.log_stream.lifecycle.delete": "Delete log stream",
  "system.log_stream.lifecycle.update": "Update log stream",
  "user.account.privilege.grant": "Grant user privilege",
  "user.account.privilege.revoke": "Revoke user privilege",
  "zone.activate": "Activate network zone",
  "zone.create": "Create network zone",
  "zone.deactivate": "Deactivate network zone",
  "zone.delete": "Delete network zone",
  "zone.update": "Update network zone",
} as const;

export type ChangeEventType = keyof typeof displayMessages;

export function record(draft: Draft, eventType: ChangeEventType, ...targets: readonly LogTarget[]): void {
  draft.events.push({ eventType, displayMessage: displayMessages[eventType], targets });
}

export function targetOf(type: string, id: string, displayName: string, more: JsonObject = {}): LogTarget {
  return { id, type, alternateId: "unknown", displayName, detailEntry: null, ...more };
}

/** The fields that an update changed, as the provider adds them to the target of some events. */
export function changeDetails(before: JsonObject, after: JsonObject): JsonObject {
  const isEdited = (name: string) =>
    !name.startsWith("_") && name !== "lastUpdated" && !isDeepStrictEqual(before[name], after[name]);
  const names = Object.keys({ ...before, ...after }).filter(isEdited);
  const pick = (from: JsonObject) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { changeDetails: { from: pick(before), to: pick(after) } };
}

export function found<Item>(item: Item | undefined, what: string): Item {
  if (item === undefined) throw new NotPossibleError(`This org has no ${what}`);
  return item;
}

/** With the time of the change. Throws where it would change nothing. */
export function edited<Item extends JsonObject>(draft: Draft, item: Item, edit: (item: Item) => Item): Item {
  const after = edit(item);
  if (isDeepStrictEqual(after, item)) throw new NotPossibleError("It is already set to this value");
  return "lastUpdated" in after ? { ...after, lastUpdated: new Date(draft.nowMs).toISOString() } : after;
}

/** A copy with one field set, however deep. */
export function withField<Item extends JsonObject>(item: Item, path: readonly string[], value: unknown): Item {
  const [name, ...rest] = path;
  if (name === undefined) return item;
  const inner = item[name];
  return { ...item, [name]: rest.length === 0 ? value : withField(isJsonObject(inner) ? inner : {}, rest, value) };
}

export function fieldOf(item: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), item);
}

export type Status = "ACTIVE" | "INACTIVE";

/** With the link to the step that is possible now. */
export function withStatus<Item extends JsonObject>(item: Item, status: Status): Item {
  const links = { ...(item["_links"] as JsonObject) };
  const [was, becomes] = status === "ACTIVE" ? ["activate", "deactivate"] : ["deactivate", "activate"];
  const step = links[was];
  if (isJsonObject(step)) {
    delete links[was];
    links[becomes] = { ...step, href: String(step["href"]).replace(/[a-z]+$/, becomes) };
  }
  return { ...item, status, _links: links };
}

/** The lists of the org whose entries are plain objects. */
export type ListName = "zones" | "authenticators" | "apiTokens" | "logStreams" | "identityProviders";

/** Replaces one entry, and gives it as it is then. */
export function editResource(
  draft: Draft,
  list: ListName,
  item: Resource,
  edit: (item: Resource) => Resource,
): Resource {
  const after = edited(draft, item, edit);
  draft.contents = {
    ...draft.contents,
    [list]: draft.contents[list].map((other) => (other.id === item.id ? after : other)),
  };
  return after;
}

export function addResource(draft: Draft, list: ListName, item: Resource): void {
  if (draft.contents[list].some(({ id }) => id === item.id)) throw new NotPossibleError("It is there already");
  draft.contents = { ...draft.contents, [list]: [...draft.contents[list], item] };
}

export function removeResource(draft: Draft, list: ListName, item: Resource): void {
  draft.contents = { ...draft.contents, [list]: draft.contents[list].filter(({ id }) => id !== item.id) };
}
