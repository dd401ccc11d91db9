import { afterAll } from "vitest";
import type { Environment } from "../../shared/environment_reader.ts";
import { clientId, startOpenIdProvider, type SignInOptions } from "./openid_provider.ts";
import { audience } from "./operator.ts";
import { startWebGateway } from "./web_gateway.ts";

export type SignInStage = Awaited<ReturnType<typeof openSignInStage>>;

/** The page of a gateway with an OpenID provider and people of two tenants. `offer` ends every session at the issuer. */
export async function openSignInStage(environment: Environment = {}, options: SignInOptions = {}) {
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
  const offerAgain = (changed: SignInOptions = {}) =>
    offer(Object.values(people), gateway.url, { ...options, ...changed });
  offerAgain();
  return { gateway, issuer, acme, globex, people, offer: offerAgain };
}
