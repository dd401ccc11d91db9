import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

const fixtures = join(import.meta.dirname, "../fixtures/okta/recorded");
/** `OKTA_RECORDED_DIR` names a folder of recorded interactions; without it fixtures of our own carry the same shapes. */
export const recordedFolder = process.env["OKTA_RECORDED_DIR"] ?? fixtures;

const kinds = {
  sessionPolicies: ["policies.list.OKTA_SIGN_ON"],
  sessionRules: ["policies.rules.get.SIGN_ON"],
  passwordPolicies: ["policies.list.PASSWORD", "policies.get.PASSWORD"],
  accessRules: ["policies.rules.list", "policies.rules.get.ACCESS_POLICY"],
  apps: ["apps.list"],
  authenticators: ["authenticators.list"],
  brands: ["brands.list"],
  zones: ["zones.list", "zones.get"],
  tokens: ["api-tokens.list"],
  roles: ["users.roles.list", "groups.roles.list"],
  logStreams: ["logStreams.list", "logStreams.get"],
  idps: ["idps.list", "idps.get"],
} as const;

export type RecordedKind = keyof typeof kinds;

/** Objects as the provider really sent them, by kind: always of the fixtures, so that generated orgs are the same on every machine. */
export function recordedObjects(): Readonly<Record<RecordedKind, readonly JsonObject[]>> {
  const byFolder = Map.groupBy(jsonFiles(fixtures), (file) => basename(dirname(file)));
  const pools = Object.entries(kinds).map(([kind, folders]) => [
    kind,
    folders.flatMap((name) => (byFolder.get(name) ?? []).flatMap(objectsIn)),
  ]);
  return Object.fromEntries(pools) as Record<RecordedKind, readonly JsonObject[]>;
}

export function jsonFiles(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return files.toSorted().map((file) => join(folder, file));
}

function objectsIn(file: string): readonly JsonObject[] {
  const { response } = JSON.parse(readFileSync(file, "utf8")) as { response: { status: number; body: unknown } };
  if (response.status !== 200) return [];
  const objects = (Array.isArray(response.body) ? response.body : [response.body]).filter(isJsonObject);
  // Links and embedded objects are most of an answer, and an organization here has links of its own.
  return objects.map(({ _links, _embedded, ...rest }) => rest);
}
