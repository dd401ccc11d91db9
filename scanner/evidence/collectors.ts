import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { readText, textsIn } from "../checks/parsing/fields.ts";
import { sortTexts } from "../checks/parsing/names.ts";
import { isSuperAdminRole } from "../checks/parsing/api_token.ts";
import { pathSegment, type IdpClient, type IdpRequest, type Reading } from "../okta/idp_client.ts";
import { artifactTable, objectParts, type ObjectPart } from "./artifact_table.ts";
import {
  entriesOf,
  missing,
  obtained,
  type ApiTokenOwner,
  type ArtifactName,
  type Artifacts,
  type BuiltInApp,
  type Evidence,
  type JsonList,
  type PolicyWithRules,
  type SignInPage,
} from "./artifacts.ts";
import { readCertificate } from "./certificates.ts";

/** Context of a collector. Each artifact is fetched once for the whole scan. */
export interface CollectorContext {
  readonly client: IdpClient;
  readonly obtain: <Name extends ArtifactName>(name: Name) => Promise<Artifacts[Name]>;
  /** True when an artifact is fetched in any case, so that its content need not be requested separately. */
  readonly isRequested: (name: ArtifactName) => boolean;
  readonly parts: PartReader;
  /** True where the organization's document says what a role is limited to. */
  readonly readsLimits: boolean;
}

type PartReader = ReturnType<typeof createPartReader>;

type Collector<Name extends ArtifactName> = (context: CollectorContext) => Promise<Artifacts[Name]>;

/** Notes a request, and where it was answered; gives the answer back. */
export type NoteRequest = <Value>(path: string, reading: Promise<Reading<Value>>) => Promise<Reading<Value>>;

/** Reads parts of objects, each once, however many objects and artifacts share it: `readings` holds them all. */
export function createPartReader(client: IdpClient, readings: Map<string, Promise<unknown>>, note: NoteRequest) {
  const objectOf = (part: ObjectPart, id: unknown) => once(part, id, (request) => client.getObject(request));
  const listOf = (part: ObjectPart, id: unknown) => once(part, id, (request) => client.getList(request));
  return {
    object: (part: ObjectPart, id: unknown) => note(part.path, objectOf(part, id)),
    list: async (part: ObjectPart, id: unknown) => evidenceOf(await note(part.path, listOf(part, id))),
    /** Asks for a list that another artifact needs. */
    readAhead: (part: ObjectPart, id: unknown) => void listOf(part, id).catch(() => undefined),
  };

  function once<Value>(
    { unnamed, holder = "", ...part }: ObjectPart,
    id: unknown,
    read: (request: IdpRequest) => Promise<Reading<Value>>,
  ): Promise<Reading<Value>> {
    const segment = pathSegment(id);
    if (segment === null) return Promise.resolve(missing("unreadable", `${unnamed ?? "It"} could not be asked for.`));
    const path = part.path.replace("{holder}", () => holder).replace("{id}", () => segment);
    // The same path has answers of the same type.
    const reading = (readings.get(path) as Promise<Reading<Value>> | undefined) ?? read({ ...part, path });
    readings.set(path, reading);
    return reading;
  }
}

/** Artifacts that are more than the one list of their row. */
export const collectors: { readonly [Name in ArtifactName]?: Collector<Name> } = {
  global_session_policies: (context) => policies(context, "global_session_policies"),

  // The rules of inactive automations too: a finding names every piece that is missing from the closest one.
  user_lifecycle_policies: (context) => policies(context, "user_lifecycle_policies"),

  automation_groups: async ({ parts, obtain }) =>
    mapEvidence(await obtain("user_lifecycle_policies"), async (found) => {
      const ids = new Set(found.flatMap(({ policy }) => textsIn(policy, "conditions.people.groups.include")));
      const groups = await Promise.all([...ids].map((id) => parts.object(objectParts.group, id)));
      return groups.flatMap((group) => (group.state === "obtained" ? [objectParts.group.keep(group.value)] : []));
    }),

  apps: async ({ client, isRequested, parts }) => {
    // Asked for while the pages after it still come, so that the last page is not followed by all of them.
    const requestRules = (app: JsonObject) => {
      const policyId = policyOfActive(app);
      if (policyId !== null) parts.readAhead(objectParts.policyRules, policyId);
    };
    const onEntry = isRequested("app_policy_rules") ? requestRules : undefined;
    return evidenceOf(await client.getList({ ...artifactTable.apps.request, onEntry }));
  },

  app_policy_rules: async ({ obtain, parts }) =>
    mapEvidence(await obtain("apps"), (found) => {
      const ids = found.map(policyOfActive).filter((id) => id !== null);
      return byKey(ids, (id) => parts.list(objectParts.policyRules, id));
    }),

  admin_console_app: (context) => builtInApp(context, "admin_console_app"),
  dashboard_app: (context) => builtInApp(context, "dashboard_app"),

  admin_console_settings: async ({ client }) => {
    const settings = await client.getObject(artifactTable.admin_console_settings.request);
    const evidence = await evidenceOf(settings);
    // Every role below Super Administrator is refused here, so a 403 means a missing role regardless of its error code.
    const isRefused = settings.refusal?.httpStatus === 403 && evidence.state === "missing";
    return isRefused && evidence.reason === "provider_error" ? { ...evidence, reason: "missing_role" } : evidence;
  },

  brand_sign_in_pages: async ({ client, parts }) => {
    const { request } = artifactTable.brand_sign_in_pages;
    const expanded = await client.getList(request);
    const isRefused = expanded.state === "missing" && expanded.refusal?.httpStatus === 400;
    const brands = isRefused
      ? await client.getList({ ...request, path: request.path.replace("expand=domains&", "") })
      : expanded;
    return mapEntries(brands, async ({ _embedded: embedded, ...brand }) => {
      const [page, domains] = await Promise.all([
        signInPage(parts, brand),
        isRefused ? null : domainsOf(parts, brand, embedded),
      ]);
      return { brand: domains === null ? brand : { ...brand, domains }, page };
    });
  },

  api_token_owners: async (context) =>
    mapEvidence(await context.obtain("api_tokens"), (tokens) => {
      const ids = tokens.map((token) => token["userId"]).filter((id) => typeof id === "string");
      return byKey(ids, (id) => ownerOf(context, id));
    }),

  smart_card_idps: async ({ client, parts }) =>
    mapEntries(await client.getList(artifactTable.smart_card_idps.request), async (idp) => {
      const kid = readText(idp, "protocol.credentials.trust.kid").value;
      const isNamed = pathSegment(kid) !== null;
      const key = isNamed ? await parts.object(objectParts.idpKey, kid) : obtained({});
      return { idp, certificate: await mapEvidence(key, readCertificate) };
    }),
};

/**
 * The evidence with `make` applied to its value; missing evidence keeps its reason. It is without the HTTP status of a refusal, which is
 * for collectors.
 */
async function mapEvidence<Value, Made>(
  reading: Reading<Value>,
  make: (value: Value) => Promise<Made> | Made,
): Promise<Evidence<Made>> {
  if (reading.state === "obtained") return { state: "obtained", value: await make(reading.value) };
  const { reason, detail, partial } = reading;
  return { state: "missing", reason, detail, partial: partial === null ? null : await make(partial) };
}

/** The same for each entry of a list, at once. */
function mapEntries<Made>(
  list: Reading<JsonList>,
  make: (entry: JsonObject) => Promise<Made>,
): Promise<Evidence<readonly Made[]>> {
  return mapEvidence(list, (found) => Promise.all(found.map(make)));
}

export function evidenceOf<Value>(reading: Reading<Value>): Promise<Evidence<Value>> {
  return mapEvidence(reading, (value) => value);
}

/** One value for each of the keys, made at once. */
async function byKey<Made>(
  keys: readonly string[],
  make: (key: string) => Promise<Made>,
): Promise<Readonly<Record<string, Made>>> {
  const made = [...new Set(keys)].map(async (key) => [key, await make(key)] as const);
  return Object.fromEntries(await Promise.all(made));
}

async function policies(
  { client, parts }: CollectorContext,
  artifact: "global_session_policies" | "user_lifecycle_policies",
): Promise<Evidence<readonly PolicyWithRules[]>> {
  const isNeeded = (policy: JsonObject) => artifact === "user_lifecycle_policies" || activityOf(policy) !== "inactive";
  return mapEntries(await client.getList(artifactTable[artifact].request), async (policy) => ({
    policy,
    rules: isNeeded(policy) ? await parts.list(objectParts.policyRules, policy["id"]) : null,
  }));
}

/** Null where the app is inactive, or names no policy that can be read. */
function policyOfActive(app: JsonObject): string | null {
  if (activityOf(app) === "inactive") return null;
  const id = accessPolicyId(app);
  return typeof id === "string" ? id : null;
}

const appNames = { admin_console_app: "saasure", dashboard_app: "okta_enduser" } as const;

async function builtInApp(
  { client, isRequested, obtain, parts }: CollectorContext,
  artifact: keyof typeof appNames,
): Promise<Evidence<BuiltInApp>> {
  const isNamed = (app: JsonObject) => app["name"] === appNames[artifact];
  // The whole list where it is fetched anyway. A partial list may lack the app, so then it is requested by name.
  const all = isRequested("apps") ? await obtain("apps") : null;
  const apps = all?.state === "obtained" ? all : await client.getList(artifactTable[artifact].request);
  const unnamed = apps.state === "obtained" && apps.value.some((app) => typeof app["name"] !== "string");
  if (unnamed && !apps.value.some(isNamed)) {
    return missing("unreadable", `GET /api/v1/apps holds an app without a name, which may be ${appNames[artifact]}.`);
  }
  return mapEvidence(apps, async (found) => {
    const app = found.find(isNamed) ?? null;
    const policyId = app === null ? null : accessPolicyId(app);
    const rules = typeof policyId === "string" ? await parts.list(objectParts.policyRules, policyId) : null;
    return { app, rules };
  });
}

/** Null where they cannot be read, and for the default brand, which is shown in any case. */
async function domainsOf(parts: PartReader, brand: JsonObject, embedded: unknown): Promise<JsonList | null> {
  const { keep } = objectParts.brandDomains;
  const domains = isJsonObject(embedded) ? embedded["domains"] : null;
  if (Array.isArray(domains)) return domains.map((domain) => (isJsonObject(domain) ? keep(domain) : {}));
  if (brand["isDefault"] !== false) return null;
  const read = await parts.list(objectParts.brandDomains, brand["id"]);
  return read.state === "obtained" ? read.value : null;
}

/** The customized page; the default one where the provider answers 404 or null for the customized one. */
async function signInPage(parts: PartReader, { id }: JsonObject): Promise<Evidence<SignInPage>> {
  const customized = await parts.object(objectParts.signInPage, id);
  const isAbsent = customized.state === "missing" && customized.refusal?.httpStatus === 404;
  const isEmpty = customized.state === "obtained" && (contentOf(customized.value) ?? "") === "";
  const shown = isAbsent || isEmpty ? await parts.object(objectParts.defaultSignInPage, id) : customized;
  return mapEvidence(shown, (page): SignInPage => {
    const stored = customized.state === "obtained" ? customized.value : null;
    const kind = shown === customized ? "customized" : "default";
    return { kind, content: contentOf(page), settings: settingsOf(stored ?? page), is_stored: stored !== null };
  });
}

function contentOf(page: JsonObject): unknown {
  return page["pageContent"] ?? null;
}

function settingsOf(page: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(page).filter(([name]) => name !== "pageContent" && !name.startsWith("_")));
}

/** The groups are not requested where a role of the user's own already decides. */
async function ownerOf(context: CollectorContext, userId: string): Promise<ApiTokenOwner> {
  const { parts } = context;
  const [user, roles] = await Promise.all([
    parts.object(objectParts.user, userId),
    rolesOfHolder(context, "users", userId),
  ]);
  const login = user.state === "obtained" ? readText(user.value, "profile.login").value : null;
  if (entriesOf(roles).some((role) => isSuperAdminRole(role) === true)) return { login, roles, groups: null };
  const groups = await mapEntries(await parts.list(objectParts.userGroups, userId), async (group) => {
    const id = typeof group["id"] === "string" ? group["id"] : "";
    const name = readText(group, "profile.name").value ?? id;
    return { id, name, roles: await rolesOfHolder(context, "groups", id) };
  });
  return { login, roles, groups };
}

/** The roles of a user or a group. `scope`: the names of the groups, apps or resource set that limit one, where they were read. */
async function rolesOfHolder(
  { parts, readsLimits }: CollectorContext,
  kind: "users" | "groups",
  holderId: string,
): Promise<Evidence<JsonList>> {
  const holder = `${kind}/${pathSegment(holderId) ?? ""}`;
  const roles = await parts.list(kind === "users" ? objectParts.userRoles : objectParts.groupRoles, holderId);
  if (!readsLimits) return roles;
  return mapEntries(roles, async (role) => {
    const targets = targetsOfType.get(String(role["type"]));
    // The list of a group has its roles, too.
    const isElsewhere = kind === "users" && role["assignmentType"] === "GROUP";
    if (isElsewhere || (role["type"] !== "CUSTOM" && targets === undefined)) return role;
    const scope =
      targets === undefined
        ? await mapEvidence(await parts.object(objectParts.resourceSet, role["resource-set"]), (set) => [set])
        : await parts.list({ ...targets, holder }, role["id"]);
    if (scope.state !== "obtained") return role;
    const names = scope.value.flatMap((target) => scopeName(target) ?? []);
    return names.length < scope.value.length ? role : { ...role, scope: sortTexts(names) };
  });
}

const targetsOfType: ReadonlyMap<string, ObjectPart> = new Map([
  ["USER_ADMIN", objectParts.roleGroups],
  ["HELP_DESK_ADMIN", objectParts.roleGroups],
  ["GROUP_MEMBERSHIP_ADMIN", objectParts.roleGroups],
  ["APP_ADMIN", objectParts.roleApps],
]);

/** The name of a group, an app or a resource set, as the console shows it. */
function scopeName(target: JsonObject): string | null {
  const names = ["profile.name", "displayName", "label", "name"].map((field) => readText(target, field).value);
  return names.find((name) => name !== null && name !== "") ?? null;
}
