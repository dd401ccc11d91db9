import { Hono } from "hono";
import { anyone } from "../auth/access.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { NotFound, PermissionDenied } from "../../shared/app_error.ts";

/** The user that the live page of the demo is signed in as. */
export interface DemoSession {
  /** A JWT that is valid for minutes; the page requests another. */
  readonly access_token: string;
  readonly tenant_id: string;
  readonly tenant_name: string;
}

export interface DemoDependencies {
  /** Null: this gateway is not the demo. */
  readonly demoSession: (() => Promise<DemoSession>) | null;
}

/**
 * `npm start` signs the page in by itself. Only for the page of this gateway on this machine: without a CORS header no
 * other origin can read the answer, and a name that an attacker's DNS points at loopback is refused by its `Host`.
 */
export function demoRoutes({ demoSession }: DemoDependencies): Hono {
  const routes = new Hono();
  routes.get("/session", anyone, async (c) => {
    if (demoSession === null) throw new NotFound("This gateway is not the demo");
    const { hostname } = new URL(c.req.url);
    if (!isLoopback(hostname)) {
      throw new PermissionDenied("The demo answers only on this machine");
    }
    return c.json(await demoSession());
  });
  return routes;
}
