import { Hono } from "hono";
import { pageHeaders } from "../web_routes.ts";
import { describeEvents } from "./asyncapi.ts";
import { docsStyle, renderDocs } from "./docs_page.ts";
import { describeApi } from "./openapi.ts";

/** What the gateway says of itself, for programs and for people. Made when first asked for. */
export function docsRoutes(): Hono {
  const routes = new Hono();
  let page: Promise<DocsPage> | null = null;
  routes.get("/openapi.json", (c) => c.json(describeApi()));
  routes.get("/asyncapi.json", (c) => c.json(describeEvents()));
  routes.get("/docs", async () => {
    page ??= createPage();
    const { text, policy } = await page;
    const headers = { ...pageHeaders, "content-security-policy": policy, "content-type": "text/html; charset=utf-8" };
    return new Response(text, { headers });
  });
  return routes;
}

interface DocsPage {
  readonly text: string;
  readonly policy: string;
}

async function createPage(): Promise<DocsPage> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(docsStyle));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return {
    text: await renderDocs(describeApi(), describeEvents()),
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}
