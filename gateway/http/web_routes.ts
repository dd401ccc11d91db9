import { Hono } from "hono";
import { NotFound } from "../../shared/app_error.ts";
import type { Dependencies } from "./dependencies.ts";
import { pageHeaders } from "./page_headers.ts";

/** The live page and its files. */
export function webRoutes({ webAssets }: Pick<Dependencies, "webAssets">): Hono {
  const routes = new Hono();
  routes.get("/", () => assetResponse("index.html", "no-cache"));
  // Their names change with what is in them.
  routes.get("/assets/:file", (c) =>
    assetResponse(`assets/${c.req.param("file")}`, "public, max-age=31536000, immutable"),
  );
  return routes;

  async function assetResponse(path: string, cacheControl: string): Promise<Response> {
    const asset = await webAssets.read(path);
    if (asset === null) throw new NotFound("No such file");
    const headers = { ...pageHeaders, "content-type": asset.contentType, "cache-control": cacheControl };
    return new Response(asset.body, { headers });
  }
}
