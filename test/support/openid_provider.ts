import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { afterAll } from "vitest";
import { listen } from "./listen.ts";
import { audience } from "./operator.ts";

/** Somebody who can sign in; `login` is the `sub` of tokens. One tenant is a text in the claim, several are an array. */
export interface Person {
  readonly login: string;
  readonly name: string;
  readonly tenantIds: readonly string[];
}

export const clientId = "0oa-live-page";

const defaults = { audience, tenantClaim: "tenant_id", lifetimeSeconds: 300, grantTypes: ["authorization_code"] };
export type SignInOptions = Partial<typeof defaults>;

const loginPage =
  '<!DOCTYPE html><title>Sign in</title><form method="post"><label>Email <input name="login"></label>' +
  '<button>Sign in</button><button name="cancel">Cancel</button></form>';

/** Starts an OpenID provider on loopback. Each `offer` starts over: no session and no token from before is known. */
export async function startOpenIdProvider() {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256" }] };
  let provider: Provider;
  const server = createServer((incoming, outgoing) => {
    const isLogin = incoming.url?.startsWith("/interaction/") === true;
    void (isLogin ? answerLogin(provider, incoming, outgoing) : provider.callback()(incoming, outgoing));
  });
  const { url: issuer, close } = await listen(server);
  afterAll(close);

  /** People come back to the page at `pageUrl`. */
  function offer(people: readonly Person[], pageUrl: string, options: SignInOptions): void {
    const addresses = { redirect_uris: [`${pageUrl}/callback`], post_logout_redirect_uris: [`${pageUrl}/`] };
    const { audience, tenantClaim, lifetimeSeconds: AccessToken, grantTypes } = { ...defaults, ...options };
    provider = new Provider(issuer, {
      clients: [{ client_id: clientId, token_endpoint_auth_method: "none", grant_types: grantTypes, ...addresses }],
      jwks,
      cookies: { keys: ["test"] },
      routes: { authorization: "/v1/authorize", token: "/v1/token" },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      clientBasedCORS: () => true,
      findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
      issueRefreshToken: async () => grantTypes.includes("refresh_token"),
      extraTokenClaims(_, issued) {
        const person = people.find(({ login }) => "accountId" in issued && issued.accountId === login);
        const [first, ...others] = person?.tenantIds ?? [];
        return { name: person?.name, [tenantClaim]: others.length === 0 ? first : [first, ...others] };
      },
      async loadExistingGrant({ oidc }) {
        const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId });
        grant.addOIDCScope("openid profile email");
        await grant.save();
        return grant;
      },
      ttl: { AccessToken, Session: 3600, Interaction: 600, Grant: 3600, IdToken: 3600, RefreshToken: 3600 },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          logoutSource(ctx, form) {
            const confirmed = form.replace("</form>", '<input type="hidden" name="logout" value="yes"></form>');
            ctx.body = `${confirmed}<script>document.forms[0].submit()</script>`;
          },
        },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => "urn:scanstream:api",
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({ scope: "", audience, accessTokenFormat: "jwt" }),
        },
      },
    });
  }
  return { issuer, offer };
}

async function answerLogin(provider: Provider, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (incoming.method === "GET") return void outgoing.setHeader("content-type", "text/html").end(loginPage);
  const form = new URLSearchParams(await text(incoming));
  const login = { accountId: form.get("login") ?? "" };
  const refusal = { error: "access_denied", error_description: "User canceled the sign-in." };
  await provider.interactionFinished(incoming, outgoing, form.has("cancel") ? refusal : { login });
}
