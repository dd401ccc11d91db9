import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { LogEventSpec, LogTarget } from "../log/system_log.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import type { OrgContents, Resource, Site } from "../contents/org_contents.ts";

/** A change while it is being made: the org as it becomes, and the events that the log gets of it. */
export interface Draft {
  contents: OrgContents;
  /** The org as it was when it started. */
  readonly initial: OrgContents;
  readonly site: Site;
  readonly nowMs: number;
  readonly events: LogEventSpec[];
}

/** Objects as the System Log has them: the type of a target, the family of the events, and the object's name in a message. */
const kinds = {
  apiTokens: ["Token", "system.api_token", "API token"],
  apps: ["AppInstance", "application.lifecycle", "application"],
  authenticators: ["AuthenticatorConfig", "security.authenticator.lifecycle", "authenticator"],
  brands: ["Brand", "system.brand", "brand"],
  groupRoles: ["UserGroup", "group.privilege", "group privilege"],
  identityProviders: ["IdentityProvider", "system.idp.lifecycle", "identity provider"],
  idpKeys: ["IdpKey", "system.idp.key", "identity provider key"],
  logStreams: ["LogStream", "system.log_stream.lifecycle", "log stream"],
  mappings: ["PolicyEntity", "policy.mapping", "policy mapping"],
  pages: ["Brand", "system.custom_signin", "custom sign-in page"],
  policies: ["PolicyEntity", "policy.lifecycle", "policy"],
  rules: ["PolicyRule", "policy.rule", "policy rule"],
  userRoles: ["User", "user.account.privilege", "user privilege"],
  zones: ["NetworkZone", "zone", "network zone"],
} as const;

type Kind = keyof typeof kinds;

export function record(draft: Draft, kind: Kind, verb: string, ...targets: readonly LogTarget[]): void {
  const [, family, noun] = kinds[kind];
  const displayMessage = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${noun}`;
  draft.events.push({ eventType: `${family}.${verb}`, displayMessage, targets });
}

export function targetOf(kind: Kind, id: string, displayName: string, more: JsonObject = {}): LogTarget {
  return { id, type: kinds[kind][0], alternateId: "unknown", displayName, detailEntry: null, ...more };
}

/** An object of the org: it can be replaced, made where there is none yet, and deleted. */
export interface Place<Item extends JsonObject = Resource> {
  readonly kind: Kind;
  /** Null: it is not there yet. */
  readonly item: Item | null;
  /** Name for people. */
  readonly name: string;
  /** The org with another object in this place; null: with none. */
  put(contents: OrgContents, after: Item | null): OrgContents;
  targets(item: Item): readonly LogTarget[];
  /** Okta's verbs for making and deleting it. Default: create, delete. */
  readonly verbs?: readonly [made: string, deleted: string];
  /** The log says what an update changed. */
  readonly hasDetails?: boolean;
}

export type Found<Item extends JsonObject = Resource> = Place<Item> & { readonly item: Item };

/**
 * Every change of an object: of a field or its status, its making, and (`after` is null) its deletion. The log gets the event.
 * Gives the object as it is then.
 * Throws `NotPossibleError` where it would change nothing.
 */
export function edit<Item extends JsonObject>(draft: Draft, place: Place<Item>, after: Item | null): Item | null {
  const { kind, item: before, verbs = ["create", "delete"], hasDetails = false } = place;
  const made = before === null || after === null ? after : replacement(draft, before, after);
  draft.contents = place.put(draft.contents, made);
  const shown = made ?? before;
  if (shown === null) return made;
  const targets = place.targets(shown);
  if (before === null || made === null) {
    record(draft, kind, verbs[before === null ? 0 : 1], ...targets);
  } else if (before["status"] !== made["status"]) {
    record(draft, kind, made["status"] === "ACTIVE" ? "activate" : "deactivate", ...targets);
  } else {
    const details = hasDetails ? changeDetails(before, made) : {};
    const verb = isRemovedPage(kind, made) ? "delete" : "update";
    record(draft, kind, verb, ...targets.map((one) => ({ ...one, ...details })));
  }
  return made;
}

/** A page without content is the provider's own again. */
function isRemovedPage(kind: Kind, page: JsonObject): boolean {
  return kind === "pages" && (page["pageContent"] ?? null) === null;
}

/** Changes one field, however deep: `settings.compliance.fips`. */
export function setField<Item extends JsonObject>(
  draft: Draft,
  place: Found<Item>,
  path: string,
  value: unknown,
): void {
  edit(draft, place, withField(place.item, path, value));
}

/** Adds the time of the change, and the link to the step that is possible now. */
function replacement<Item extends JsonObject>(draft: Draft, before: Item, after: Item): Item {
  if (isDeepStrictEqual(after, before)) throw new NotPossibleError("It is already set to this value");
  const linked = before["status"] === after["status"] ? after : withLifecycleLink(after);
  return "lastUpdated" in linked ? { ...linked, lastUpdated: new Date(draft.nowMs).toISOString() } : linked;
}

function withLifecycleLink<Item extends JsonObject>(item: Item): Item {
  const links = { ...(item["_links"] as JsonObject) };
  const [was, becomes] = item["status"] === "ACTIVE" ? ["activate", "deactivate"] : ["deactivate", "activate"];
  const step = links[was];
  if (isJsonObject(step)) {
    delete links[was];
    links[becomes] = { ...step, href: String(step["href"]).replace(/[a-z]+$/, becomes) };
  }
  return { ...item, _links: links };
}

/** The fields that an update changed, as the provider adds them to the target of some events. */
function changeDetails(before: JsonObject, after: JsonObject): JsonObject {
  const isEdited = (name: string) =>
    !name.startsWith("_") && name !== "lastUpdated" && !isDeepStrictEqual(before[name], after[name]);
  const names = Object.keys({ ...before, ...after }).filter(isEdited);
  const pick = (from: JsonObject) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { changeDetails: { from: pick(before), to: pick(after) } };
}

/** An object that the org gets now. */
export function createdNow<Item extends JsonObject>(draft: Draft, item: Item): Item {
  const now = new Date(draft.nowMs).toISOString();
  return { ...item, created: now, lastUpdated: now };
}

export function found<Item>(item: Item | undefined, what: string): Item {
  if (item === undefined) throw new NotPossibleError(`This org has no ${what}`);
  return item;
}

/** A list in which one entry is replaced, added (`before` is null) or left out (`after` is null). */
export function replaced<Item>(
  items: readonly Item[],
  before: Item | null,
  after: Item | null,
  idOf: (item: Item) => string,
): readonly Item[] {
  if (before !== null) return items.flatMap((item) => (item !== before ? [item] : after === null ? [] : [after]));
  if (after === null) return items;
  if (items.some((item) => idOf(item) === idOf(after))) throw new NotPossibleError("It is there already");
  return [...items, after];
}

/** A copy with one field set, however deep: `settings.compliance.fips`. */
export function withField<Item extends JsonObject>(item: Item, path: string, value: unknown): Item {
  const [name = "", ...rest] = path.split(".");
  const inner = item[name];
  const set = rest.length === 0 ? value : withField(isJsonObject(inner) ? inner : {}, rest.join("."), value);
  return { ...item, [name]: set };
}

/** `path`: `settings.compliance.fips`. */
export function fieldOf(item: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), item);
}
