import * as v from "valibot";
import { described, uuid, type Output } from "../../shared/schemas/primitives.ts";
import { roleSchema, scopeSchema } from "../../shared/schemas/team.ts";

const tenantSchema = v.object({
  id: uuid("expected a UUID"),
  name: v.string(),
  role: v.nullable(described(roleSchema, "Of the member; null for an API key")),
});

export const sessionSchema = v.object({
  kind: v.picklist(["user", "api_key"]),
  id: described(v.string(), "The token's `sub`, or the API key's id"),
  name: v.nullable(v.string()),
  scopes: v.nullable(described(v.array(scopeSchema), "Of the API key; null for a member")),
  expires_at: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
  tenant: v.nullable(described(tenantSchema, "Null: the token is for several, and none was named")),
  tenants: described(v.array(tenantSchema), "Those of the token that the caller is a member of"),
});

/** Addresses of the issuer, from its discovery document. */
const issuerEndpointsSchema = v.object({
  authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  end_session_endpoint: described(v.nullable(v.string()), "Null: an application cannot send people there to sign out"),
  authorization_response_iss_parameter_supported: described(v.boolean(), "https://www.rfc-editor.org/rfc/rfc9207"),
});

const providerSchema = v.object({
  issuer: v.string(),
  client_id: v.string(),
  scopes: v.string(),
  audience: described(v.string(), "The gateway expects it in an access token"),
  tenant_claim: v.string(),
  endpoints: described(v.nullable(issuerEndpointsSchema), "Null: the gateway cannot reach the issuer"),
});

/** The ways in, as the gateway offers them to its page. */
export const signInOfferSchema = v.object({ is_demo: v.boolean(), provider: v.nullable(providerSchema) });

export type IssuerEndpoints = Output<typeof issuerEndpointsSchema>;
export type SignInOffer = Output<typeof signInOfferSchema>;
export type Session = Output<typeof sessionSchema>;
