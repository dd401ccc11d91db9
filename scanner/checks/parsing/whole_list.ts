import type { JsonObject } from "../../../shared/json.ts";
import { missing, type Evidence, type JsonList } from "../../evidence/artifacts.ts";

/**
 * Okta keeps a default in each of these lists that nobody can delete. An answer without it is the part that the role may see: it
 * proves what FAILs in it, and nothing else.
 */
export function requireDefault<Item>(
  evidence: Evidence<readonly Item[]>,
  { isDefault, name, request }: DefaultEntry<Item>,
): Evidence<readonly Item[]> {
  if (evidence.state === "missing" || evidence.value.some(isDefault)) return evidence;
  const detail = `${request} answers without the ${name}, which every org has, so the administrator role of this run sees a part of the list`;
  return missing("missing_role", detail, evidence.value);
}

export interface DefaultEntry<Item> {
  readonly isDefault: (item: Item) => boolean;
  /** Its name in the console. */
  readonly name: string;
  readonly request: string;
}

/** Okta made it. */
export function isSystem({ system }: JsonObject): boolean {
  return system === true;
}

/** Every org has both of Okta's own apps, so a list without them is the part that the role may see. */
export function areAllAppsSeen(apps: Evidence<JsonList> | undefined): boolean {
  if (apps?.state !== "obtained") return false;
  const names = new Set(apps.value.map((app) => app["name"]));
  return names.has("saasure") && names.has("okta_enduser");
}
