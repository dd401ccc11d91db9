import { lifecycleLink, link } from "./links.ts";
import { oktaId } from "./okta_id.ts";
import type { App, JsonObject, Site } from "./org_contents.ts";

const created = "2026-01-06T09:19:34.000Z";
const lastUpdated = "2026-01-20T12:10:12.000Z";
const signingKeyId = "48X-q9YWQ_p1aXo_HbPDTPbEncSYjFgiJEzhmK8Kq8I";

export interface AppSpec {
  /** The kind of app in the catalogue of integrations, `saasure` or `oidc_client`. */
  readonly name: string;
  /** What an administrator sees. */
  readonly label: string;
  readonly id?: string;
  readonly status?: "ACTIVE" | "INACTIVE";
  /** Null on directory integrations, which nobody signs in to. */
  readonly signOnMode: string | null;
  readonly features?: readonly string[];
  /** Null: not bound to a policy, as every app of the Classic Engine. */
  readonly policyId: string | null;
  readonly orgId: string;
  readonly settings?: JsonObject;
  readonly oauthClient?: { readonly credentials: JsonObject; readonly settings: JsonObject };
}

export function appId(label: string): string {
  return oktaId("0oa", label);
}

export function appObject(site: Site, spec: AppSpec): App {
  const id = spec.id ?? appId(spec.label);
  const href = `${site.url}/api/v1/apps/${id}`;
  const status = spec.status ?? "ACTIVE";
  const isFirstParty = spec.name === "saasure" || spec.name.startsWith("okta_");
  return {
    id,
    orn: `orn:okta:idp:${spec.orgId}:apps:${spec.name}:${id}`,
    name: spec.name,
    label: spec.label,
    status,
    lastUpdated,
    created,
    accessibility: { selfService: false, errorRedirectUrl: null, loginRedirectUrl: null },
    visibility: { autoSubmitToolbar: false, hide: { iOS: false, web: false }, appLinks: {} },
    features: spec.features ?? [],
    signOnMode: spec.signOnMode,
    credentials: {
      userNameTemplate: { template: "${source.login}", type: "BUILT_IN" },
      signing: spec.signOnMode === "BOOKMARK" ? {} : { kid: signingKeyId },
      ...(spec.oauthClient === undefined ? {} : { oauthClient: spec.oauthClient.credentials }),
    },
    universalLogout: null,
    settings: {
      app: spec.settings ?? {},
      notifications: { vpn: { network: { connection: "DISABLED" }, message: null, helpUrl: null } },
      manualProvisioning: false,
      implicitAssignment: false,
      emOptInStatus: "NONE",
      ...(isFirstParty ? {} : { notes: { admin: null, enduser: null } }),
      ...(spec.oauthClient === undefined ? {} : { oauthClient: spec.oauthClient.settings }),
    },
    _links: {
      uploadLogo: link(`${href}/logo`, "POST"),
      appLinks: [],
      profileEnrollment: link(`${site.url}/api/v1/policies/${oktaId("rst", "Default Policy PROFILE_ENROLLMENT")}`),
      policies: link(`${href}/policies`, "PUT"),
      groups: link(`${href}/groups`),
      logo: [{ name: "medium", href: `${site.url}/assets/img/logos/default.png`, type: "image/png" }],
      ...(spec.policyId === null ? {} : { accessPolicy: link(`${site.url}/api/v1/policies/${spec.policyId}`) }),
      users: link(`${href}/users`),
      ...lifecycleLink(href, status),
    },
  };
}

/** The API Services integration that the scanner signs in as. */
export function serviceApp(
  site: Site,
  fields: {
    readonly clientId: string;
    readonly orgId: string;
    readonly policyId: string | null;
    readonly requiresDpop: boolean;
  },
): App {
  return appObject(site, {
    id: fields.clientId,
    name: "oidc_client",
    label: "Compliance scanner",
    signOnMode: "OPENID_CONNECT",
    policyId: fields.policyId,
    orgId: fields.orgId,
    oauthClient: {
      credentials: {
        autoKeyRotation: true,
        client_id: fields.clientId,
        token_endpoint_auth_method: "private_key_jwt",
        pkce_required: false,
      },
      settings: {
        client_uri: null,
        logo_uri: null,
        redirect_uris: [],
        response_types: ["token"],
        grant_types: ["client_credentials"],
        application_type: "service",
        consent_method: "TRUSTED",
        issuer_mode: "DYNAMIC",
        idp_initiated_login: { mode: "DISABLED", default_scope: [] },
        wildcard_redirect: "DISABLED",
        dpop_bound_access_tokens: fields.requiresDpop,
      },
    },
  });
}
