import { Hono } from "hono";
import { anyone } from "../auth/access.ts";

/** How the document is made is the runtime's matter: a small bundle brings it along. */
export function docsRoutes(openApi: () => Promise<unknown>): Hono {
  const routes = new Hono();
  routes.get("/openapi.json", anyone, async () => Response.json(await openApi()));
  return routes;
}
