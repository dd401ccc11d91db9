import { Hono } from "hono";
import { anyone } from "../auth/access.ts";
import type { PageDependencies } from "./dependencies.ts";

/** How people sign in here: asked by the live page, before it has any credential. */
export function signInRoutes({ signIn, demoSession }: PageDependencies): Hono {
  const routes = new Hono();
  routes.get("/", anyone, async (c) => {
    if (signIn === null) return c.json({ is_demo: demoSession !== null, provider: null });
    const { issuer, clientId, scopes, audience, tenantClaim } = signIn;
    const provider = { issuer, client_id: clientId, scopes, audience, tenant_claim: tenantClaim };
    return c.json({ is_demo: demoSession !== null, provider: { ...provider, endpoints: await signIn.endpoints() } });
  });
  return routes;
}
