import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import classic from "./classic.json" with { type: "json" };
import compliant from "./compliant.json" with { type: "json" };
import directory from "./directory.json" with { type: "json" };
import edge from "./edge.json" with { type: "json" };
import empty from "./empty.json" with { type: "json" };
import { accessPolicyId, copyOf, departmentPolicy, valuesOf, webApp } from "./new_objects.ts";
import type { OrgContents, Site } from "./org_contents.ts";
import typical from "./typical.json" with { type: "json" };

/** Each recorded org: its file, and the files that patch it. */
export const recordings = {
  /** A realistic org: some checks pass, some fail, some need a person. */
  typical: [typical],
  /** Configured as the STIG asks, some settings exactly at their limit: no rule fails. */
  compliant: [compliant],
  /** A fresh org, not configured yet. */
  empty: [empty],
  /** A fresh org of the Classic Engine: apps without policies, no authenticators API. */
  classic: [empty, classic],
  /** Compliant, but for rare cases: rules for a few people, rules that deny, hidden banners, a split Okta Verify. */
  edge: [compliant, edge],
  /** Compliant, with users of Active Directory: what DISA leaves to the directory is as Okta has it. */
  directory: [compliant, directory],
} as const;

export type Profile =
  | { readonly name: keyof typeof recordings }
  | { readonly name: "large"; readonly appCount: number };

const mostApps = 100_000;
const sharedPolicies = 25;
/** The apps that the provider brings, and the service application itself. */
const smallestLargeOrg = 4;

/** Throws a `RangeError` that names what is expected. */
export function parseProfile(text: string): Profile {
  if (isRecorded(text)) return { name: text };
  const [name, count, ...rest] = text.split(":");
  if (name !== "large") {
    throw new RangeError(`"${text}": expected one of ${[...Object.keys(recordings), "large:N"].join(", ")}`);
  }
  const appCount = rest.length === 0 && /^[0-9]{1,6}$/.test(count ?? "") ? Number(count) : Number.NaN;
  if (!(appCount >= smallestLargeOrg && appCount <= mostApps)) {
    throw new RangeError(
      `"${text}": expected large:N with a whole number N from ${smallestLargeOrg} ` +
        `(the provider's own apps and the service application) to ${mostApps}, such as large:10000`,
    );
  }
  return { name: "large", appCount };
}

function isRecorded(name: string): name is keyof typeof recordings {
  return Object.hasOwn(recordings, name);
}

export function profileContents(profile: Profile, site: Site): OrgContents {
  return profile.name === "large" ? largeOrg(site, profile.appCount) : recordedOrg(site, recordings[profile.name]);
}

/**
 * The org of a recording. A patch sets the fields that it names; of a list it replaces or adds objects by their id, after those
 * whose ids are in `without` are gone.
 */
export function recordedOrg(site: Site, files: readonly JsonObject[]): OrgContents {
  const orgId = String(files.findLast(({ id }) => id !== undefined)?.["id"]);
  const [whole = {}, ...patches] = files.map((file) => withWebApps(site, orgId, copyOf(file, valuesOf(site))));
  return patches.reduce(patched, whole) as unknown as OrgContents;
}

/** A web app stands in a recording by its label and its policy alone. */
function withWebApps(site: Site, orgId: string, file: JsonObject): JsonObject {
  if (!Array.isArray(file["apps"])) return file;
  const apps = file["apps"].map((app: { readonly webApp?: string; readonly policy?: string }) =>
    app.webApp === undefined ? app : webApp(site, { label: app.webApp, policyId: app.policy ?? null, orgId }),
  );
  return { ...file, apps };
}

function patched(org: JsonObject, { without = [], ...patch }: JsonObject): JsonObject {
  const gone = new Set(without as readonly string[]);
  const lists = Object.entries(org).filter(([, value]) => Array.isArray(value)) as [string, JsonObject[]][];
  const patchedLists = lists.map(([name, items]) => {
    const changed = new Map((patch[name] as JsonObject[] | undefined)?.map((item) => [idOf(item), item]));
    const kept = items.filter((item) => !gone.has(idOf(item)));
    const known = new Set(kept.map(idOf));
    const added = [...changed].filter(([id]) => !known.has(id)).map(([, item]) => item);
    return [name, [...kept.map((item) => changed.get(idOf(item)) ?? item), ...added]] as const;
  });
  return { ...org, ...patch, ...Object.fromEntries(patchedLists) };
}

/** A policy, a brand, a user or a group stands in a recording together with what is below it. */
function idOf(item: JsonObject): string {
  const below = ["policy", "brand", "user", "group"].map((name) => item[name]).find(isJsonObject);
  return String(item["id"] ?? item["kid"] ?? below?.["id"]);
}

/**
 * A typical org with `appCount` apps in all, the provider's own and the service application among them. The others share
 * a few policies, as in real orgs.
 */
function largeOrg(site: Site, appCount: number): OrgContents {
  const org = recordedOrg(site, recordings.typical);
  const builtIn = org.apps.slice(0, smallestLargeOrg - 1);
  const names = Array.from(
    { length: sharedPolicies },
    (_, index) => `Department ${String(index + 1).padStart(2, "0")}`,
  );
  const policyIds = names.map(accessPolicyId);
  // Every fifth policy is reachable from anywhere: large orgs have findings too.
  const policies = names.map((name, index) => departmentPolicy(site, index % 5 === 4 ? "lax" : "strict", name));
  return {
    ...org,
    name: `Practice org of ${appCount} apps`,
    apps: [
      ...builtIn,
      ...Array.from({ length: appCount - smallestLargeOrg }, (_, index) => {
        const label = `App ${String(index + 1).padStart(6, "0")}`;
        return webApp(site, { label, policyId: policyIds[(index + 1) % sharedPolicies] ?? null, orgId: org.id });
      }),
    ],
    policies: [...org.policies, ...policies],
  };
}
