import { afterAll } from "vitest";
import type { Environment } from "../../shared/environment_reader.ts";
import { startOpenIdProvider, type SignInOptions } from "./openid_provider.ts";
import { startWebGateway } from "./web_gateway.ts";

const clientId = "0oa-live-page";
const audience = "scanstream-test";

export type SignInStage = Awaited<ReturnType<typeof openSignInStage>>;

/** The page of a gateway with an OpenID provider and people of two tenants. `offer` ends every session at the issuer. */
export async function openSignInStage(environment: Environment = {}, options: Partial<SignInOptions> = {}) {
  const { issuer, offer } = await startOpenIdProvider();
  const gateway = await startWebGateway({
    AUTH_JWKS: undefined,
    AUTH_JWKS_URL: `${issuer}/jwks`,
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    OIDC_CLIENT_ID: clientId,
    ...environment,
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  const [acme, globex] = [await gateway.createTenant("Acme"), await gateway.createTenant("Globex")];
  /** A member of both tenants, of one, and of none that there is. */
  const people = {
    both: { login: "ann@practice.example", name: "Ann Both", tenantIds: [acme.id, globex.id] },
    one: { login: "olga@practice.example", name: "Olga One", tenantIds: [acme.id] },
    none: { login: "nils@practice.example", name: "Nils None", tenantIds: [crypto.randomUUID()] },
  };
  await gateway.addUser(acme.id, people.both.login, "viewer");
  await gateway.addUser(globex.id, people.both.login, "admin");
  await gateway.addUser(acme.id, people.one.login, "operator");
  const offerAgain = (changed: Partial<SignInOptions> = {}) => {
    offer({
      people: Object.values(people),
      clientId,
      pageUrl: gateway.url,
      audience,
      tenantClaim: "tenant_id",
      lifetimeSeconds: 300,
      grantTypes: ["authorization_code"],
      ...options,
      ...changed,
    });
  };
  offerAgain();
  return { gateway, issuer, acme, globex, people, offer: offerAgain };
}
