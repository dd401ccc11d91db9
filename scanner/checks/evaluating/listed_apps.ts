import type { JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf } from "../parsing/activity.ts";
import { isDirectoryApp } from "../parsing/directory.ts";
import { readText } from "../parsing/fields.ts";
import { listTexts, nameOf, sortTexts } from "../parsing/names.ts";
import { manual, type Subject } from "./finding_drafts.ts";

export function isOktasOwn(app: JsonObject): boolean {
  const name = readText(app, "name");
  return name.kind === "value" && /^(saasure|okta_(?!org2org))/.test(name.value);
}

/** Apps that nobody signs in to, by kind; null for an app that people sign in to. */
export function kindWithoutSignIn(app: JsonObject): "directory" | "service app" | "app without a sign-on mode" | null {
  const clientType = readText(app, "settings.oauthClient.application_type");
  if (clientType.kind === "value" && clientType.value === "service") return "service app";
  if (app["signOnMode"] !== null) return null;
  return isDirectoryApp(app) === true ? "directory" : "app without a sign-on mode";
}

export interface SeenApps {
  /** Note of every finding that names the apps that are left out. */
  readonly note: Pick<Subject, "note">;
  /** Why a PASS says nothing about apps that were not seen; null where all were. */
  readonly hidden: string | null;
}

/** Every org has both of Okta's own apps, so a list without them is not complete, regardless of the role. */
export function describeApps(apps: JsonList): SeenApps {
  const names = new Set(apps.map((app) => app["name"]));
  const isWhole = names.has("saasure") && names.has("okta_enduser");
  const without = apps.filter((app) => activityOf(app) !== "inactive" && kindWithoutSignIn(app) !== null);
  const kinds = [...Map.groupBy(without, kindWithoutSignIn)].map(([kind, found]) => {
    const plural = kind === "directory" ? "directories" : kind?.replace(/^(service )?app/, "$&s");
    return `${found.length} ${found.length === 1 ? kind : plural}, ${listTexts(found.map((app) => `"${nameOf(app)}"`))}`;
  });
  return {
    note: kinds.length === 0 ? {} : { note: `left out, because nobody signs in there: ${sortTexts(kinds).join("; ")}` },
    hidden: isWhole ? null : `Only the ${countApps(apps)} that the administrator role of this run sees were evaluated`,
  };
}

function countApps({ length }: JsonList): string {
  return `${length} ${length === 1 ? "app" : "apps"}`;
}

/** The finding on an org where nothing is left to judge. */
export function noActiveApp(apps: JsonList, { note, hidden }: SeenApps, expected: string): FindingDraft {
  const org: Subject = { resource: null, expected, ...note };
  if (hidden === null) return manual(org, "needs_review", "no active app that people sign in to");
  const found = `no app that people sign in to among the ${countApps(apps)} that the administrator role of this run sees`;
  return manual(org, "partly_automated", found);
}
