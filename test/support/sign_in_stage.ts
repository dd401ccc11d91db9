import { afterAll } from "vitest";
import type { OpenIdProvider } from "../../practice_org/sign_in/openid_provider.ts";
import type { Person, SignInOptions } from "../../practice_org/sign_in/people.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { startOrg } from "../practice_org/start_org.ts";
import { startWebGateway, type WebGateway, type WebTenant } from "./web_gateway.ts";

const clientId = "0oa-live-page";
const audience = "scanstream-test";

/** The page of a gateway whose issuer is a practice org, with people of two tenants. */
export interface SignInStage {
  readonly gateway: WebGateway;
  readonly issuer: string;
  readonly provider: OpenIdProvider;
  readonly acme: WebTenant;
  readonly globex: WebTenant;
  /** A member of both tenants, of one, and of none that there is. */
  readonly people: Readonly<Record<"both" | "one" | "none", Person>>;
  /** Offers sign-in anew: every session at the issuer is over. */
  offer(options?: Partial<SignInOptions>): Promise<void>;
}

export async function openSignInStage(
  environment: Environment = {},
  options: Partial<SignInOptions> = {},
): Promise<SignInStage> {
  const org = await startOrg();
  const gateway = await startWebGateway({
    AUTH_JWKS: undefined,
    AUTH_JWKS_URL: `${org.issuer}/v1/keys`,
    AUTH_ISSUER: org.issuer,
    AUTH_AUDIENCE: audience,
    OIDC_CLIENT_ID: clientId,
    ...environment,
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  const [acme, globex] = [await gateway.createTenant("Acme"), await gateway.createTenant("Globex")];
  const people = {
    both: { login: "ann@practice.example", name: "Ann Both", password: "two", tenantIds: [acme.id, globex.id] },
    one: { login: "olga@practice.example", name: "Olga One", password: "one", tenantIds: [acme.id] },
    none: { login: "nils@practice.example", name: "Nils None", password: "none", tenantIds: [crypto.randomUUID()] },
  };
  await gateway.addMember(acme, people.both.login, "viewer");
  await gateway.addMember(globex, people.both.login, "admin");
  await gateway.addMember(acme, people.one.login, "operator");
  const offer = (changed: Partial<SignInOptions> = {}) =>
    org.offerSignIn({
      people: Object.values(people),
      client: { clientId, redirectUris: [`${gateway.url}/callback`], postLogoutRedirectUris: [`${gateway.url}/`] },
      audience,
      tenantClaim: "tenant_id",
      ...options,
      ...changed,
    });
  return {
    gateway,
    issuer: org.issuer,
    provider: await offer(),
    acme,
    globex,
    people,
    async offer(changed) {
      await offer(changed);
    },
  };
}
