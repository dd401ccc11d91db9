import type { Evidence, JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { activityOf } from "../parsing/activity.ts";
import { isDirectoryApp } from "../parsing/directory.ts";
import { readText } from "../parsing/fields.ts";
import { listTexts, nameOf, sortTexts } from "../parsing/names.ts";
import { areAllAppsSeen } from "../parsing/whole_list.ts";

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
  readonly note?: string;
  /** The apps that were seen, in words, where there may be others; null where all were. */
  readonly part: string | null;
}

export function describeApps(apps: Evidence<JsonList>): SeenApps {
  if (apps.state === "missing") return { part: null };
  const { length } = apps.value;
  const without = apps.value.filter((app) => activityOf(app) !== "inactive" && kindWithoutSignIn(app) !== null);
  const kinds = [...Map.groupBy(without, kindWithoutSignIn)].map(([kind, found]) => {
    const plural = kind === "directory" ? "directories" : kind?.replace(/^(service )?app/, "$&s");
    return `${found.length} ${found.length === 1 ? kind : plural}, ${listTexts(found.map((app) => `"${nameOf(app)}"`))}`;
  });
  const note = `left out, because nobody signs in there: ${sortTexts(kinds).join("; ")}`;
  const part = `the ${length} ${length === 1 ? "app" : "apps"} that the administrator role of this run sees`;
  return { part: areAllAppsSeen(apps) ? null : part, ...(kinds.length > 0 && { note }) };
}
