import { Hono } from "hono";
import { anyone } from "../auth/access.ts";
import { NotFound } from "../../shared/app_error.ts";
import type { PageDependencies } from "./dependencies.ts";
import { livePageHeaders } from "./page_headers.ts";

/** The live page and its files. */
export function webRoutes({ webAssets, signIn }: PageDependencies): Hono {
  const routes = new Hono();
  routes.get("/", anyone, () => pageResponse({ isCallback: false }));
  // Where the issuer sends people back to: the page again, which takes what is in the query.
  if (signIn !== null) routes.get("/callback", anyone, () => pageResponse({ isCallback: true }));
  // Their names change with what is in them.
  routes.get("/assets/:file", anyone, (c) =>
    assetResponse(`assets/${c.req.param("file")}`, {
      ...livePageHeaders(null, { isCallback: false }),
      "cache-control": "public, max-age=31536000, immutable",
    }),
  );
  return routes;

  async function pageResponse(options: { readonly isCallback: boolean }): Promise<Response> {
    const endpoints = (await signIn?.endpoints()) ?? null;
    return assetResponse("index.html", { ...livePageHeaders(endpoints, options), "cache-control": "no-cache" });
  }

  async function assetResponse(path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    const asset = await webAssets.read(path);
    if (asset === null) throw new NotFound("No such file");
    return new Response(asset.body, { headers: { ...headers, "content-type": asset.contentType } });
  }
}
