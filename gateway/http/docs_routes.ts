import { Hono } from "hono";
import { anyone } from "../auth/access.ts";
import type { Docs } from "../description/described.ts";
import { pageHeaders } from "./page_headers.ts";

/** For programs and for people. How the documents are made is the runtime's matter: a small bundle brings them along. */
export function docsRoutes(docs: Docs): Hono {
  const routes = new Hono();
  routes.get("/openapi.json", anyone, async () => Response.json(await docs.openApi()));
  routes.get("/asyncapi.json", anyone, async () => Response.json(await docs.asyncApi()));
  routes.get("/docs", anyone, async () => {
    const { html, policy } = await docs.page();
    const headers = { ...pageHeaders, "content-security-policy": policy, "content-type": "text/html; charset=utf-8" };
    return new Response(html, { headers });
  });
  return routes;
}
