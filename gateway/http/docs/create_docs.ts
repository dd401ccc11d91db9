import { describeEvents } from "./asyncapi.ts";
import { docsStyle, renderDocs } from "./docs_page.ts";
import type { Docs, DocsPage } from "./../dependencies.ts";
import { describeApi } from "./openapi.ts";

/** Documents made from what checks the requests and the events, the page when it is first asked for. */
export function createDocs(): Docs {
  let page: Promise<DocsPage> | null = null;
  return {
    openApi: async () => describeApi(),
    asyncApi: async () => describeEvents(),
    page() {
      page ??= createPage();
      return page;
    },
  };
}

async function createPage(): Promise<DocsPage> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(docsStyle));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return {
    html: await renderDocs(describeApi(), describeEvents()),
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}
