import type { JsonObject } from "../../shared/json.ts";
import { keeping, type IdpRequest } from "../okta/idp_client.ts";
import type { ArtifactName, Artifacts, BuiltInApp, Evidence, JsonList, PolicyWithRules } from "./artifacts.ts";
import {
  builtInApp,
  consoleSettings,
  objectsOf,
  objectsWith,
  partOf,
  rulesById,
  rulesOf,
  topLevel,
  type ListedObjects,
} from "./listed_objects.ts";

/** How one artifact is read, kept, followed and listed. */
export interface ArtifactRow<Value> {
  /** The request that it begins with, and the fields that are kept of each entry; null: it is made from other artifacts. */
  readonly request: IdpRequest | null;
  /** The requests that follow for each object of the list before them. */
  readonly parts?: readonly ObjectPart[];
  /** The artifact whose parts are read for this one too. */
  readonly partsOf?: ArtifactName;
  /** Beginnings of the types of log events after which it may be another one. */
  readonly events: readonly string[];
  /** The same for events that touch nothing but the parts of their targets: most are about objects that no check reads. */
  readonly eventsOfTargets?: readonly string[];
  readonly objects: (value: Value) => readonly ListedObjects[];
}

/** Artifacts that are made from others. */
type Made = "automation_groups" | "app_policy_rules" | "api_token_owners";
type Table = {
  readonly [Name in ArtifactName]: ArtifactRow<ValueOf<Artifacts[Name]>> & {
    readonly request: Name extends Made ? null : IdpRequest;
  };
};
type ValueOf<Artifact> = Artifact extends Evidence<infer Value> ? Value : never;

/** A request that is made for an object of a list. */
export interface ObjectPart extends IdpRequest {
  /** `users/00u1` in the place of `{holder}` in its path. */
  readonly holder?: string;
  /** Subject of the sentence that says why it was not made: for an id that cannot be one. */
  readonly unnamed?: string;
}

/** The content of a page that is not customized is null. */
const pageFields = ["pageContent", "widgetVersion", "widgetCustomizations"];
const roleFields = "id type label status assignmentType resource-set";
const noOwner = { unnamed: "The owner has no usable id, so the roles" };

export const objectParts = {
  policyRules: {
    path: "/api/v1/policies/{id}/rules",
    scope: "policies.read",
    keep: withoutLinks,
    unnamed: "The policy has no usable id, so its rules",
  },
  group: get("/api/v1/groups/{id}", "groups.read", "id type profile.name"),
  groupRoles: {
    ...get("/api/v1/groups/{id}/roles", "roles.read", roleFields),
    unnamed: "A group has no usable id, so its roles",
  },
  user: { path: "/api/v1/users/{id}", scope: "users.read" },
  userRoles: { ...get("/api/v1/users/{id}/roles", "roles.read", roleFields), ...noOwner },
  /** Holder: `users/{id}` or `groups/{id}`. */
  roleGroups: get("/api/v1/{holder}/roles/{id}/targets/groups", "roles.read", "id profile.name"),
  roleApps: get("/api/v1/{holder}/roles/{id}/targets/catalog/apps", "roles.read", "id name displayName"),
  resourceSet: get("/api/v1/iam/resource-sets/{id}", "roles.read", "id label"),
  userGroups: { ...get("/api/v1/users/{id}/groups", "users.read", "id profile.name"), ...noOwner },
  signInPage: {
    path: "/api/v1/brands/{id}/pages/sign-in/customized",
    scope: "brands.read",
    fields: pageFields,
    unnamed: "The brand has no usable id, so its sign-in page",
  },
  defaultSignInPage: {
    path: "/api/v1/brands/{id}/pages/sign-in/default",
    scope: "brands.read",
    fields: pageFields,
  },
  brandDomains: get("/api/v1/brands/{id}/domains", "brands.read", "id domain validationStatus"),
  idpKey: { path: "/api/v1/idps/credentials/keys/{id}", scope: "idps.read" },
} as const satisfies Readonly<Record<string, ObjectPart>>;

const appEvents = ["application.lifecycle.", "application.configuration.", "app.policy.", "policy.mapping."];
// The provider turns rules off because of their zones.
const policyEvents = ["policy.", "network_zone."];

/** An app is three kilobytes, and an org may have ten thousand. */
const appFields =
  "id name label status signOnMode features settings.oauthClient.application_type credentials.oauthClient.client_id " +
  "_links.accessPolicy.href";
const builtInGroups = encodeURIComponent('type eq "BUILT_IN"');
const trust = "protocol.credentials.trust";
/** Without the token of a Splunk stream. */
const streamSettings = "settings.accountId settings.edition settings.eventSourceName settings.host settings.region";

/**
 * Everything that is read of an org, in the order in which the probe tries it: what every organization has and every role may read comes
 * first. To add an artifact: its schema in `artifacts.ts`, a row here, a collector where it is more than one list
 * (`collectors.ts`), and what `test/scanner/evidence/collect.test.ts` asks for.
 */
export const artifactTable: Table = {
  // The longest chain of pages, so that it begins with the probe and not after it.
  apps: list("app", get("/api/v1/apps?limit=200", "apps.read", appFields), appEvents),
  global_session_policies: policiesOf("OKTA_SIGN_ON"),
  password_policies: list("policy", policyList("PASSWORD"), policyEvents),
  access_policies: list(
    "policy",
    { ...policyList("ACCESS_POLICY"), keep: keeping(["id", "type", "name", "status"]) },
    policyEvents,
  ),
  authenticators: list(
    "authenticator",
    get("/api/v1/authenticators", "authenticators.read", "id key name type status settings"),
    ["security.authenticator.", "system.mfa.factor."],
  ),
  brand_sign_in_pages: {
    request: get("/api/v1/brands?expand=domains&limit=200", "brands.read", "id name isDefault _embedded.domains"),
    parts: [objectParts.signInPage, objectParts.defaultSignInPage],
    events: ["system.custom_signin.", "system.brand.", "system.custom_url_domain."],
    objects: objectsWith(
      "brand",
      ({ brand }) => brand,
      (parent, { page }) => partOf("sign_in_page", parent, page),
    ),
  },
  network_zones: list(
    "zone",
    get(
      "/api/v1/zones?limit=200",
      "networkZones.read",
      "id name type status usage system proxyType asns locations ipServiceCategories gateways proxies",
    ),
    ["zone.", "security.zone."],
  ),
  admin_console_app: builtIn("saasure"),
  dashboard_app: builtIn("okta_enduser"),
  built_in_groups: list(
    "group",
    get(`/api/v1/groups?filter=${builtInGroups}&limit=200`, "groups.read", "id type profile.name"),
    [],
  ),
  log_streams: list(
    "log_stream",
    get("/api/v1/logStreams?limit=200", "logStreams.read", `id name type status ${streamSettings}`),
    ["system.log_stream."],
  ),
  saml_idps: list(
    "identity_provider",
    get("/api/v1/idps?type=SAML2&limit=200", "idps.read", "id name type status policy.provisioning.profileMaster"),
    ["system.idp."],
  ),
  smart_card_idps: {
    request: get(
      "/api/v1/idps?type=X509&limit=200",
      "idps.read",
      `id name type status ${trust}.issuer ${trust}.kid properties.additionalAmr`,
    ),
    parts: [objectParts.idpKey],
    events: ["system.idp."],
    objects: objectsWith(
      "identity_provider",
      ({ idp }) => idp,
      (parent, { certificate }) => partOf("certificate", parent, certificate),
    ),
  },
  api_tokens: list(
    "api_token",
    get("/api/v1/api-tokens", "apiTokens.read", "id name userId clientName created network"),
    ["system.api_token."],
  ),
  user_lifecycle_policies: policiesOf("USER_LIFECYCLE"),
  admin_console_settings: {
    request: {
      path: "/api/v1/first-party-app-settings/admin-console",
      scope: "apps.read",
      fields: ["sessionIdleTimeoutMinutes", "sessionMaxLifetimeMinutes"],
    },
    // The log has no separate type for them: they belong to the app.
    events: appEvents,
    objects: (value) => [topLevel([{ ...consoleSettings, value }])],
  },
  automation_groups: {
    request: null,
    parts: [objectParts.group],
    events: [],
    objects: objectsOf("group"),
  },
  app_policy_rules: {
    request: null,
    parts: [objectParts.policyRules],
    events: [...policyEvents, "application.policy.", "app.policy."],
    objects: rulesById,
  },
  api_token_owners: {
    request: null,
    parts: [
      objectParts.user,
      objectParts.userRoles,
      objectParts.userGroups,
      objectParts.groupRoles,
      objectParts.roleGroups,
      objectParts.roleApps,
      objectParts.resourceSet,
    ],
    events: ["iam.resourceset.", "iam.role."],
    eventsOfTargets: ["user.account.privilege.", "group.privilege.", "group.user_membership."],
    objects: (owners) => [
      topLevel(Object.entries(owners).map(([id, one]) => ({ type: "api_token_owner", id, name: id, value: one }))),
    ],
  },
};

type Requested<Value> = ArtifactRow<Value> & { readonly request: IdpRequest };

/** A request for a list, and the fields that are kept of each entry. */
function get(path: string, scope: string, fields: string) {
  return { path, scope, keep: keeping(fields.split(" ")) } satisfies IdpRequest;
}

function list(type: string, request: IdpRequest, events: readonly string[]): Requested<JsonList> {
  return { request, events, objects: objectsOf(type) };
}

function policyList(type: string): IdpRequest {
  return { path: `/api/v1/policies?type=${type}`, scope: "policies.read", keep: withoutLinks };
}

function withoutLinks({ _links, ...rest }: JsonObject): JsonObject {
  return rest;
}

function policiesOf(type: string): Requested<readonly PolicyWithRules[]> {
  return {
    request: policyList(type),
    parts: [objectParts.policyRules],
    events: policyEvents,
    objects: objectsWith(
      "policy",
      ({ policy }) => policy,
      (parent, { rules }) => (rules === null ? null : rulesOf(parent, rules)),
    ),
  };
}

function builtIn(name: string): Requested<BuiltInApp> {
  const filter = encodeURIComponent(`name eq "${name}"`);
  return {
    request: get(`/api/v1/apps?filter=${filter}&limit=200`, "apps.read", appFields),
    partsOf: "app_policy_rules",
    events: appEvents,
    objects: builtInApp,
  };
}

/** The path of a list without how it is paged and expanded. */
export function listIdentity(path: string): string {
  return path.replace(/(?:expand=\w+&)?limit=\d+/, "");
}

/** A request as people read it: `GET /api/v1/policies/{id}/rules`. */
export function requestText(path: string): string {
  return `GET ${decodeURIComponent(path.replace(/[?&]limit=\d+/, ""))}`;
}

/** The request that an artifact begins with; its name where that is made from others. */
export function firstRequestText(name: ArtifactName): string {
  const { request } = artifactTable[name];
  return request === null ? name : requestText(request.path);
}

/**
 * The requests that the collectors of a set of artifacts begin with: the probe makes one of them and the collector gets its answer, so
 * that the probe costs nothing.
 */
export function firstRequests(artifacts: Iterable<ArtifactName>): readonly IdpRequest[] {
  const wanted = new Set(artifacts);
  // With the whole list the built-in apps are looked up in it, and not requested.
  const isListed = wanted.has("apps");
  return (Object.keys(artifactTable) as ArtifactName[])
    .filter((name) => wanted.has(name) && !(isListed && artifactTable[name].partsOf === "app_policy_rules"))
    .flatMap((name) => artifactTable[name].request ?? []);
}
