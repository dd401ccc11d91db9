import type { JsonObject } from "../../shared/json.ts";
import { link, oktaId } from "./ids_and_links.ts";
import { policyId } from "./policy_objects.ts";
import type { App, Site } from "./org_contents.ts";

const created = "2026-01-06T09:19:34.000Z";
const lastUpdated = "2026-01-20T12:10:12.000Z";
/** For a kind that no check reads; every app names it. */
const profileEnrollmentPolicyId = "rstwotAqnyKevvn0q5d7";
const signingKeyId = "48X-q9YWQ_p1aXo_HbPDTPbEncSYjFgiJEzhmK8Kq8I";

export interface AppSpec {
  /** The kind of app in the catalogue of integrations, `saasure` or `oidc_client`. */
  readonly name: string;
  /** Name that an administrator sees. */
  readonly label: string;
  readonly id?: string;
  readonly status?: "ACTIVE" | "INACTIVE";
  /** Null for directories and HR sources, which have no sign-on. */
  readonly signOnMode: string | null;
  readonly features?: readonly string[];
  /** Null: not bound to a policy, as every app of the Classic Engine. */
  readonly policyId: string | null;
  readonly orgId: string;
  /** Only of an `oidc_client`. Default: one of a web server. */
  readonly oauthClient?: OauthClient;
}

export function appId(label: string): string {
  return oktaId("0oa", label);
}

/** The provider's own apps, which only Super Administrators see. */
export function isFirstPartyApp(name: string): boolean {
  return name === "saasure" || name.startsWith("okta_");
}

export function appObject(site: Site, spec: AppSpec): App {
  const id = spec.id ?? appId(spec.label);
  const href = `${site.url}/api/v1/apps/${id}`;
  const status = spec.status ?? "ACTIVE";
  const isFirstParty = isFirstPartyApp(spec.name);
  const mode = modeFields(site, spec, id);
  const linkName = appLinkName(spec);
  const verb = status === "ACTIVE" ? "deactivate" : "activate";
  return {
    id,
    orn: `orn:okta:idp:${spec.orgId}:apps:${spec.name}:${id}`,
    name: spec.name,
    label: spec.label,
    status,
    lastUpdated,
    created,
    accessibility: { selfService: false, errorRedirectUrl: null, loginRedirectUrl: null },
    visibility: {
      ...(isFirstParty ? {} : { autoLaunch: false }),
      autoSubmitToolbar: false,
      hide: { iOS: false, web: false },
      appLinks: linkName === null ? {} : { [linkName]: true },
    },
    features: spec.features ?? [],
    ...mode.fields,
    signOnMode: spec.signOnMode,
    credentials: {
      userNameTemplate: { template: "${source.login}", type: "BUILT_IN" },
      signing: mode.isSigned ? { kid: signingKeyId } : {},
      ...mode.credentials,
    },
    universalLogout: null,
    settings: {
      app: {},
      notifications: { vpn: { network: { connection: "DISABLED" }, message: null, helpUrl: null } },
      manualProvisioning: false,
      implicitAssignment: false,
      emOptInStatus: "NONE",
      ...(isFirstParty ? {} : { notes: { admin: null, enduser: null } }),
      ...mode.settings,
    },
    _links: {
      ...mode.links,
      uploadLogo: link(`${href}/logo`, "POST"),
      appLinks:
        linkName === null
          ? []
          : [{ name: linkName, href: `${site.url}/home/${spec.name}/${id}/2557`, type: "text/html" }],
      profileEnrollment: link(`${site.url}/api/v1/policies/${profileEnrollmentPolicyId}`),
      policies: link(`${href}/policies`, "PUT"),
      groups: link(`${href}/groups`),
      logo: [{ name: "medium", href: `${site.url}/assets/img/logos/default.png`, type: "image/png" }],
      ...(spec.policyId === null ? {} : { accessPolicy: link(`${site.url}/api/v1/policies/${spec.policyId}`) }),
      users: link(`${href}/users`),
      [verb]: link(`${href}/lifecycle/${verb}`),
    },
  };
}

/** An app of a web server that people sign in to with OpenID Connect, bound to a policy. */
export function webApp(
  site: Site,
  { label, policy, orgId }: { readonly label: string; readonly policy: string; readonly orgId: string },
): App {
  const id = policyId("ACCESS_POLICY", policy);
  return appObject(site, { name: "oidc_client", label, signOnMode: "OPENID_CONNECT", policyId: id, orgId });
}

interface ModeFields {
  readonly isSigned: boolean;
  readonly fields?: JsonObject;
  readonly credentials?: JsonObject;
  readonly settings?: JsonObject;
  readonly links?: JsonObject;
}

/** Fields that only apps of one sign-on mode have. */
function modeFields(site: Site, spec: AppSpec, id: string): ModeFields {
  if (spec.name === "oidc_client") {
    return oauthFields(site, id, spec.oauthClient ?? { type: "web", requiresDpop: false });
  }
  if (spec.signOnMode === "SAML_2_0") {
    const help = `${site.url}/app/${spec.name}/${id}/setup/help/SAML_2_0/instructions`;
    return {
      isSigned: true,
      settings: { signOn: samlSettings(spec.label) },
      links: {
        help: { href: help, type: "text/html" },
        metadata: { href: `${site.url}/api/v1/apps/${id}/sso/saml/metadata`, type: "application/xml" },
      },
    };
  }
  if (spec.signOnMode === "BROWSER_PLUGIN") {
    return {
      isSigned: false,
      fields: { licensing: { seatCount: 0 } },
      credentials: { scheme: "EDIT_USERNAME_AND_PASSWORD", revealPassword: false },
    };
  }
  return { isSigned: spec.signOnMode === "OPENID_CONNECT" };
}

function samlSettings(label: string): JsonObject {
  const host = `${label.toLowerCase().replaceAll(" ", "-")}.practice.example`;
  return {
    defaultRelayState: "",
    ssoAcsUrl: `https://${host}/saml/acs`,
    audience: `https://${host}`,
    recipient: `https://${host}/saml/acs`,
    destination: `https://${host}/saml/acs`,
    subjectNameIdFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    responseSigned: true,
    assertionSigned: true,
    signatureAlgorithm: "RSA_SHA256",
    digestAlgorithm: "SHA256",
  };
}

/** The tile on the end user's dashboard; null where none exists. */
function appLinkName(spec: AppSpec): string | null {
  if (spec.name === "saasure") return "admin";
  if (spec.name.startsWith("okta_") || spec.signOnMode === null) return null;
  return spec.signOnMode === "BOOKMARK" || spec.signOnMode === "BROWSER_PLUGIN" ? "login" : `${spec.name}_link`;
}

/** An API Services integration: nobody signs in to it. The provider gives some of them a policy, and others none. */
export function serviceApp(
  site: Site,
  fields: {
    readonly label: string;
    readonly clientId: string;
    readonly orgId: string;
    readonly policyId: string | null;
    readonly requiresDpop?: boolean;
  },
): App {
  const { label, clientId, orgId, policyId, requiresDpop = false } = fields;
  return appObject(site, {
    id: clientId,
    name: "oidc_client",
    label,
    signOnMode: "OPENID_CONNECT",
    policyId,
    orgId,
    oauthClient: { type: "service", requiresDpop },
  });
}

/** A directory or HR source: it has no sign-on, and yet a link to a policy, as all recorded ones do. */
export function directoryApp(
  site: Site,
  spec: Pick<AppSpec, "name" | "label" | "orgId" | "features"> & { readonly policy: string },
): App {
  return appObject(site, { ...spec, signOnMode: null, policyId: policyId("ACCESS_POLICY", spec.policy) });
}

interface OauthClient {
  readonly type: "web" | "service";
  readonly requiresDpop: boolean;
}

/** The fields that only an app of OpenID Connect has; a service has no address to come back to. */
function oauthFields(site: Site, id: string, { type, requiresDpop }: OauthClient): ModeFields {
  const isService = type === "service";
  const secret = isService ? "jwks" : "secrets";
  return {
    isSigned: true,
    credentials: {
      oauthClient: {
        autoKeyRotation: true,
        client_id: id,
        token_endpoint_auth_method: isService ? "private_key_jwt" : "client_secret_basic",
        pkce_required: false,
      },
    },
    settings: {
      oauthClient: {
        client_uri: null,
        logo_uri: null,
        redirect_uris: isService ? [] : ["https://app.practice.example/callback"],
        response_types: [isService ? "token" : "code"],
        grant_types: [isService ? "client_credentials" : "authorization_code"],
        application_type: type,
        consent_method: "TRUSTED",
        issuer_mode: "DYNAMIC",
        idp_initiated_login: { mode: "DISABLED", default_scope: [] },
        wildcard_redirect: "DISABLED",
        dpop_bound_access_tokens: requiresDpop,
      },
    },
    links: {
      clientCredentials: [{ name: secret, href: `${site.url}/api/v1/apps/${id}/credentials/${secret}` }],
    },
  };
}
