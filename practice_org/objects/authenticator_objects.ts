import type { JsonObject } from "../../shared/json.ts";
import { lifecycleLink, link, oktaId } from "./ids_and_links.ts";
import type { Resource, Site } from "./org_contents.ts";

const created = "2025-06-26T15:51:39.000Z";
const lastUpdated = "2026-01-06T11:13:38.000Z";

export interface AuthenticatorSpec {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly status?: "ACTIVE" | "INACTIVE";
  readonly settings?: JsonObject;
  readonly provider?: JsonObject;
}

export function authenticatorObject(site: Site, spec: AuthenticatorSpec): Resource {
  const id = oktaId("aut", spec.key);
  const href = `${site.url}/api/v1/authenticators/${id}`;
  const status = spec.status ?? "ACTIVE";
  // A password cannot be switched off.
  const lifecycle = spec.key === "okta_password" ? {} : lifecycleLink(href, status);
  return {
    type: spec.type,
    id,
    key: spec.key,
    status,
    name: spec.name,
    created,
    lastUpdated,
    ...(spec.settings === undefined ? {} : { settings: spec.settings }),
    ...(spec.provider === undefined ? {} : { provider: spec.provider }),
    _links: {
      self: link(href, "GET", "PUT"),
      ...lifecycle,
      methods: link(`${href}/methods`, "GET"),
      ...(spec.key === "okta_verify" ? { enroll: link(`${site.url}/okta/authenticators`, "POST") } : {}),
    },
  };
}

/** Initial settings of every org. */
export function commonAuthenticators(site: Site): readonly Resource[] {
  return [
    authenticatorObject(site, {
      key: "okta_email",
      type: "email",
      name: "Email",
      settings: { allowedFor: "recovery", tokenLifetimeInMinutes: 5 },
    }),
    authenticatorObject(site, { key: "okta_password", type: "password", name: "Password" }),
    authenticatorObject(site, {
      key: "phone_number",
      type: "phone",
      name: "Phone",
      status: "INACTIVE",
      settings: { allowedFor: "any" },
    }),
    authenticatorObject(site, {
      key: "security_question",
      type: "security_question",
      name: "Security Question",
      status: "INACTIVE",
      settings: { allowedFor: "recovery" },
    }),
  ];
}

export function oktaVerify(
  site: Site,
  fips: "OPTIONAL" | "REQUIRED",
  status: "ACTIVE" | "INACTIVE" = "ACTIVE",
): Resource {
  return authenticatorObject(site, {
    key: "okta_verify",
    status,
    type: "app",
    name: "Okta Verify",
    settings: {
      compliance: { fips },
      channelBinding: { style: "NUMBER_CHALLENGE", required: "ALWAYS" },
      userVerification: "PREFERRED",
      enrollmentSecurityLevel: "ANY",
      userVerificationMethods: ["PIN", "BIOMETRICS"],
      appInstanceId: "",
    },
  });
}

export function smartCard(site: Site, identityProviderId: string, status: "ACTIVE" | "INACTIVE" = "ACTIVE"): Resource {
  return authenticatorObject(site, {
    key: "smart_card_idp",
    type: "federated",
    name: "Smart Card Authenticator",
    status,
    provider: { type: "CLAIMS", configuration: { idpId: identityProviderId } },
  });
}
