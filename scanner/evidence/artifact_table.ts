import * as v from "valibot";
import type { JsonObject } from "../../shared/json.ts";
import type { IdpRequest } from "../okta/idp_client.ts";
import { resourceOf } from "../checks/parsing/names.ts";
import type { ArtifactName, Artifacts, BuiltInApp, Evidence, JsonList, PolicyWithRules } from "./artifacts.ts";
import { keeping } from "./collectors/collector.ts";
import {
  asObject,
  builtInApp,
  consoleSettings,
  innerPart,
  listed,
  objectsOf,
  policiesWithRules,
  rulesById,
  type ListedObjects,
} from "./listed_objects.ts";
import { byId, evidence, json, listOf, text, time, type Schema } from "./schemas.ts";

/** How one artifact is read, kept, saved, followed and listed. */
export interface ArtifactRow<Value> {
  /** The request that it begins with, and the fields that are kept of each entry; null: it is made from other artifacts. */
  readonly request: IdpRequest | null;
  /** Paths of the requests that follow, `{id}` for each object of the list before them. */
  readonly parts?: readonly string[];
  /** The artifact whose parts are read for this one too. */
  readonly partsOf?: ArtifactName;
  readonly schema: Schema<Value>;
  /** Beginnings of the types of log events after which it may be another one. */
  readonly events: readonly string[];
  /** The same for events that touch nothing but the parts of their targets: most are about objects that no check reads. */
  readonly eventsOfTargets?: readonly string[];
  readonly objects: (value: Value) => ListedObjects;
}

/** Artifacts that are made from others. */
type Made = "automation_groups" | "app_policy_rules" | "api_token_owners";
type Table = {
  readonly [Name in ArtifactName]: ArtifactRow<ValueOf<Artifacts[Name]>> & {
    readonly request: Name extends Made ? null : IdpRequest;
  };
};
type ValueOf<Artifact> = Artifact extends Evidence<infer Value> ? Value : never;

/** Paths that are made for each object of a list. */
export const partPaths = {
  policyRules: "/api/v1/policies/{id}/rules",
  group: "/api/v1/groups/{id}",
  groupRoles: "/api/v1/groups/{id}/roles",
  user: "/api/v1/users/{id}",
  userRoles: "/api/v1/users/{id}/roles",
  userGroups: "/api/v1/users/{id}/groups",
  signInPage: "/api/v1/brands/{id}/pages/sign-in/customized",
  defaultSignInPage: "/api/v1/brands/{id}/pages/sign-in/default",
  brandDomains: "/api/v1/brands/{id}/domains",
  idpKey: "/api/v1/idps/credentials/keys/{id}",
} as const;

const jsonList = listOf(json);
const rules = v.nullable(evidence(jsonList));
const certificateFields = { subject: text, issuer: text, serial: text, sha256: text, valid_from: time, valid_to: time };
const certificate = v.object({ ...certificateFields, chain: v.array(v.object(certificateFields)), x5c: text });
const signInPage = v.object({
  kind: v.picklist(["customized", "default"]),
  content: v.unknown(),
  settings: v.exactOptional(json),
  is_stored: v.exactOptional(v.boolean("and should be true or false")),
});
const ownerGroups = listOf(v.object({ id: text, name: text, roles: evidence(jsonList) }));
const owner = v.object({
  login: v.nullable(text),
  roles: evidence(jsonList),
  groups: v.nullable(evidence(ownerGroups)),
});

const appEvents = ["application.lifecycle.", "application.configuration.", "app.policy.", "policy.mapping."];
// The provider turns rules off because of their zones.
const policyEvents = ["policy.", "network_zone."];

/** An app is three kilobytes, and an org may have ten thousand. */
const keepApp = keeping(
  "id name label status signOnMode features settings.oauthClient.application_type _links.accessPolicy.href".split(" "),
);
const trust = "protocol.credentials.trust";
/** Without the token of a Splunk stream. */
const streamSettings = ["accountId", "edition", "eventSourceName", "host", "region"].map((name) => `settings.${name}`);

/**
 * Everything that is read of an org, in the order in which the probe tries it: what every organization has and every role may read comes
 * first. To add an artifact: its type in `artifacts.ts`, a row here, a collector where it is more than one list
 * (`collect_artifacts.ts`), and what `test/scanner/evidence/artifacts.test.ts` asks for.
 */
export const artifactTable: Table = {
  // The longest chain of pages, so that it begins with the probe and not after it.
  apps: {
    request: { path: "/api/v1/apps?limit=200", scope: "apps.read", keep: keepApp },
    schema: jsonList,
    events: appEvents,
    objects: objectsOf("app"),
  },
  global_session_policies: policiesOf("OKTA_SIGN_ON"),
  password_policies: {
    request: policyList("PASSWORD"),
    schema: jsonList,
    events: policyEvents,
    objects: objectsOf("policy"),
  },
  access_policies: {
    request: { ...policyList("ACCESS_POLICY"), keep: keeping(["id", "type", "name", "status"]) },
    schema: jsonList,
    events: policyEvents,
    objects: objectsOf("policy"),
  },
  authenticators: list("/api/v1/authenticators", {
    type: "authenticator",
    scope: "authenticators.read",
    keep: ["id", "key", "name", "type", "status", "settings"],
    events: ["security.authenticator.", "system.mfa.factor."],
  }),
  brand_sign_in_pages: {
    request: {
      path: "/api/v1/brands?expand=domains&limit=200",
      scope: "brands.read",
      keep: keeping(["id", "name", "isDefault", "_embedded.domains"]),
    },
    parts: [partPaths.signInPage],
    schema: listOf(v.object({ brand: json, page: evidence(signInPage) })),
    events: ["system.custom_signin.", "system.brand.", "system.custom_url_domain."],
    objects: (found) => ({
      objects: listed(
        "brand",
        found.map(({ brand }) => brand),
      ),
      inner: found.map(({ brand, page }) => innerPart("sign_in_page", resourceOf("brand", brand), page)),
    }),
  },
  network_zones: list("/api/v1/zones?limit=200", {
    type: "zone",
    scope: "networkZones.read",
    keep: "id name type status usage proxyType asns locations ipServiceCategories gateways proxies".split(" "),
    events: ["zone.", "security.zone."],
  }),
  admin_console_app: builtIn("saasure"),
  dashboard_app: builtIn("okta_enduser"),
  built_in_groups: list(`/api/v1/groups?filter=${encodeURIComponent('type eq "BUILT_IN"')}&limit=200`, {
    type: "group",
    scope: "groups.read",
    keep: ["id", "type", "profile.name"],
    events: [],
  }),
  log_streams: list("/api/v1/logStreams?limit=200", {
    type: "log_stream",
    scope: "logStreams.read",
    keep: ["id", "name", "type", "status", ...streamSettings],
    events: ["system.log_stream."],
  }),
  saml_idps: list("/api/v1/idps?type=SAML2&limit=200", {
    type: "identity_provider",
    scope: "idps.read",
    keep: ["id", "name", "type", "status", "policy.provisioning.profileMaster"],
    events: ["system.idp."],
  }),
  smart_card_idps: {
    request: {
      path: "/api/v1/idps?type=X509&limit=200",
      scope: "idps.read",
      keep: keeping(["id", "name", "type", "status", `${trust}.issuer`, `${trust}.kid`, "properties.additionalAmr"]),
    },
    parts: [partPaths.idpKey],
    schema: listOf(v.object({ idp: json, certificate: evidence(v.nullable(certificate)) })),
    events: ["system.idp."],
    objects: (found) => ({
      objects: listed(
        "identity_provider",
        found.map(({ idp }) => idp),
      ),
      inner: found.map(({ idp, certificate: trusted }) =>
        innerPart("certificate", resourceOf("identity_provider", idp), trusted),
      ),
    }),
  },
  api_tokens: list("/api/v1/api-tokens", {
    type: "api_token",
    scope: "apiTokens.read",
    keep: ["id", "name", "userId", "clientName", "created", "network"],
    events: ["system.api_token."],
  }),
  user_lifecycle_policies: policiesOf("USER_LIFECYCLE"),
  admin_console_settings: {
    request: { path: "/api/v1/first-party-app-settings/admin-console", scope: "apps.read" },
    schema: json,
    // The log has no separate type for them: they belong to the app.
    events: appEvents,
    objects: (value) => ({ objects: [{ ...consoleSettings, value }] }),
  },
  automation_groups: {
    request: null,
    parts: [partPaths.group],
    schema: jsonList,
    events: [],
    objects: objectsOf("group"),
  },
  app_policy_rules: {
    request: null,
    parts: [partPaths.policyRules],
    schema: byId(evidence(jsonList)),
    events: [...policyEvents, "application.policy.", "app.policy."],
    objects: rulesById,
  },
  api_token_owners: {
    request: null,
    parts: [partPaths.user, partPaths.userRoles, partPaths.userGroups, partPaths.groupRoles],
    schema: byId(owner),
    events: ["iam.resourceset.", "iam.role."],
    eventsOfTargets: ["user.account.privilege.", "group.privilege.", "group.user_membership."],
    objects: (owners) => ({
      objects: Object.entries(owners).map(([id, one]) => ({
        type: "api_token_owner",
        id,
        name: id,
        value: asObject(one),
      })),
    }),
  },
};

type Requested<Value> = ArtifactRow<Value> & { readonly request: IdpRequest };

interface ListFacts {
  readonly type: string;
  readonly scope: string;
  readonly keep: readonly string[];
  readonly events: readonly string[];
}

function list(path: string, { type, scope, keep, events }: ListFacts): Requested<JsonList> {
  return { request: { path, scope, keep: keeping(keep) }, schema: jsonList, events, objects: objectsOf(type) };
}

function policyList(type: string): IdpRequest {
  return { path: `/api/v1/policies?type=${type}`, scope: "policies.read", keep: withoutLinks };
}

export function withoutLinks({ _links, ...rest }: JsonObject): JsonObject {
  return rest;
}

function policiesOf(type: string): Requested<readonly PolicyWithRules[]> {
  return {
    request: policyList(type),
    parts: [partPaths.policyRules],
    schema: listOf(v.object({ policy: json, rules })),
    events: policyEvents,
    objects: policiesWithRules,
  };
}

function builtIn(name: string): Requested<BuiltInApp> {
  const filter = encodeURIComponent(`name eq "${name}"`);
  return {
    request: { path: `/api/v1/apps?filter=${filter}&limit=200`, scope: "apps.read", keep: keepApp },
    partsOf: "app_policy_rules",
    schema: v.object({ app: v.nullable(json), rules }),
    events: appEvents,
    objects: builtInApp,
  };
}

/** An object's part, as `/api/v1/policies/00p1/rules`. `segment`: its id as one segment of a path. */
export function partPath(template: string, segment: string): string {
  return template.replace("{id}", () => segment);
}

/** The path of a list without how it is paged and expanded. */
export function listIdentity(path: string): string {
  return path.replace(/(?:expand=\w+&)?limit=\d+/, "");
}
