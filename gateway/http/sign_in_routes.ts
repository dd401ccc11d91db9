import { Hono } from "hono";
import { anyone } from "../auth/access.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import type { SignInOffer } from "./session_schema.ts";
import type { PageDependencies } from "./dependencies.ts";

/** How people sign in here: asked by the live page, before it has any credential. */
export function signInRoutes({ signIn, demoSession }: PageDependencies): Hono {
  const routes = new Hono();
  // `npm start` signs the page in by itself. Only for the page of this gateway on this machine: without a CORS header no other
  // origin can read the answer, and a name that an attacker's DNS points at loopback is refused by its `Host`.
  routes.get("/demo/session", anyone, async (c) => {
    if (demoSession === null) throw new NotFound("This gateway is not the demo");
    const { hostname } = new URL(c.req.url);
    if (!isLoopback(hostname)) throw new PermissionDenied("The demo answers only on this machine");
    return c.json(await demoSession());
  });

  routes.get("/sign-in", anyone, async (c) => {
    const is_demo = demoSession !== null;
    if (signIn === null) return c.json({ is_demo, provider: null } satisfies SignInOffer);
    const { issuer, clientId, scopes, audience, tenantClaim } = signIn;
    const provider = { issuer, client_id: clientId, scopes, audience, tenant_claim: tenantClaim };
    return c.json({ is_demo, provider: { ...provider, endpoints: await signIn.endpoints() } } satisfies SignInOffer);
  });
  return routes;
}
