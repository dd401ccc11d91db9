import { NotPossibleError } from "../not_possible_error.ts";
import { changeDetails, edited, record, targetOf, withField, type Draft } from "./draft.ts";
import { policyLink, policyTarget } from "./policy_edits.ts";
import type { LogTarget } from "../log/log_events.ts";
import type { App, Listing, OrgContents, PolicyWithRules } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

/** Actions on apps in the Admin Console: each function changes the org and records its events. */

export function findApp(contents: OrgContents, isWanted: (app: App) => boolean, what: string): App {
  for (let index = 0; index < contents.apps.length; index += 1) {
    const app = contents.apps.get(index);
    if (isWanted(app)) return app;
  }
  throw new NotPossibleError(`This org has no ${what}`);
}

export function createApp(draft: Draft, app: App, { policy }: PolicyWithRules): void {
  const now = new Date(draft.nowMs).toISOString();
  draft.contents = {
    ...draft.contents,
    apps: withApp(draft.contents.apps, { ...app, created: now, lastUpdated: now }),
  };
  record(draft, "application.lifecycle.create", appTarget(app));
  record(draft, "policy.mapping.create", policyTarget(policy), appTarget(app));
  record(draft, "application.lifecycle.activate", appTarget(app));
}

export function deleteApp(draft: Draft, app: App): void {
  draft.contents = { ...draft.contents, apps: withoutApp(draft.contents.apps, app.id) };
  record(draft, "application.lifecycle.deactivate", appTarget(app));
  record(draft, "application.lifecycle.delete", appTarget(app));
}

export function moveApp(draft: Draft, app: App, { policy }: PolicyWithRules): void {
  const after = edited(draft, app, (old) => withField(old, ["_links", "accessPolicy"], policyLink(draft, policy.id)));
  draft.contents = { ...draft.contents, apps: withEditedApp(draft.contents.apps, after) };
  record(draft, "policy.mapping.create", policyTarget(policy), appTarget(after));
  record(draft, "application.lifecycle.update", appTarget(after));
}

/** The settings of the Admin Console are logged as an update of its app. */
export function updateConsoleSettings(draft: Draft, edit: (settings: JsonObject) => JsonObject): void {
  const before = draft.contents.adminConsoleSettings;
  const adminConsoleSettings = edited(draft, before, edit);
  draft.contents = { ...draft.contents, adminConsoleSettings };
  const app = findApp(draft.contents, ({ name }) => name === "saasure", "Admin Console");
  record(draft, "application.lifecycle.update", {
    ...appTarget(app),
    ...changeDetails(before, adminConsoleSettings),
  });
}

function appTarget(app: App): LogTarget {
  return targetOf("AppInstance", app.id, app.label, {
    alternateId: app.label,
    detailEntry: { signOnModeType: app["signOnMode"] },
  });
}

/** The edits of a listing whose items may be made when they are read: only what was edited is kept. */
interface AppEdits {
  readonly base: Listing<App>;
  readonly replaced: ReadonlyMap<string, App>;
  readonly added: readonly App[];
}

const editsOfListing = new WeakMap<Listing<App>, AppEdits>();

function editsOf(apps: Listing<App>): AppEdits {
  return editsOfListing.get(apps) ?? { base: apps, replaced: new Map(), added: [] };
}

function listingWith(edits: AppEdits): Listing<App> {
  const { base, replaced, added } = edits;
  const listing: Listing<App> = {
    length: base.length + added.length,
    get(index) {
      const extra = added[index - base.length];
      if (extra !== undefined) return extra;
      const app = base.get(index);
      return replaced.get(app.id) ?? app;
    },
  };
  editsOfListing.set(listing, edits);
  return listing;
}

function withApp(apps: Listing<App>, app: App): Listing<App> {
  const edits = editsOf(apps);
  return listingWith({ ...edits, added: [...edits.added, app] });
}

function withEditedApp(apps: Listing<App>, app: App): Listing<App> {
  const edits = editsOf(apps);
  if (!edits.added.some(({ id }) => id === app.id)) {
    return listingWith({ ...edits, replaced: new Map([...edits.replaced, [app.id, app]]) });
  }
  return listingWith({ ...edits, added: edits.added.map((other) => (other.id === app.id ? app : other)) });
}

/** Only an app that was added while the org ran can be deleted. */
function withoutApp(apps: Listing<App>, id: string): Listing<App> {
  const edits = editsOf(apps);
  return listingWith({ ...edits, added: edits.added.filter((app) => app.id !== id) });
}
