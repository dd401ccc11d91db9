import { Hono, type MiddlewareHandler } from "hono";
import { etag } from "hono/etag";
import { serveStatic } from "hono/serve-static";
import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import type { IssuerEndpoints, SignInOffer } from "./session_schema.ts";
import { accountOf } from "../limits.ts";
import { anyone } from "./allow.ts";
import type { Dependencies } from "./dependencies.ts";
import { isLocal } from "./status_routes.ts";

type WebDependencies = Pick<Dependencies, "webAssets" | "signIn" | "demoSession" | "peerAddress">;

/** The live page and its files, in the smallest coding that the client accepts, and how people sign in there. */
export function webRoutes({ webAssets, signIn, demoSession, peerAddress }: WebDependencies): Hono {
  const routes = new Hono();
  // Made of the bytes that are sent, so that each encoding has its own.
  const tagged = etag();
  routes.get("/", anyone, tagged, compressedBefore, page({ isCallback: false }));
  // The issuer sends people back to the page, which takes what is in the query.
  if (signIn !== null) routes.get("/callback", anyone, tagged, compressedBefore, page({ isCallback: true }));
  // Their names change with what is in them.
  const immutable = {
    ...livePageHeaders(null, { isCallback: false }),
    "cache-control": "public, max-age=31536000, immutable",
  };
  const assets = files({ rewriteRequestPath: (path) => path.slice(1) }, async () => immutable);
  routes.get("/assets/:file", anyone, tagged, compressedBefore, assets);
  // `npm start` signs the page in by itself, also where HOST lets others in. Only for the page of this gateway on this machine:
  // without a CORS header no other origin can read the answer.
  routes.get("/demo/session", anyone, async (c) => {
    if (demoSession === null) throw new NotFound("This gateway is not the demo");
    if (!isLocal(peerAddress(c.env), c.req.raw)) throw new PermissionDenied("The demo answers only on this machine");
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

  function page(options: { readonly isCallback: boolean }): MiddlewareHandler {
    return files({ path: "index.html" }, async () => {
      const endpoints = (await signIn?.endpoints()) ?? null;
      return { ...livePageHeaders(endpoints, options), "cache-control": "no-cache" };
    });
  }

  function files(
    place: { readonly path: string } | { readonly rewriteRequestPath: (path: string) => string },
    headersOf: () => Promise<Readonly<Record<string, string>>>,
  ): MiddlewareHandler {
    return serveStatic({
      ...place,
      root: "",
      precompressed: true,
      async getContent(path, c) {
        const bytes = await webAssets.read(path);
        accountOf(c.req.raw).takeAnswer(bytes?.byteLength ?? 0);
        return bytes;
      },
      async onFound(_path, c) {
        c.header("vary", "accept-encoding");
        for (const [name, value] of Object.entries(await headersOf())) c.header(name, value);
      },
      onNotFound() {
        throw new NotFound("No such file");
      },
    });
  }
}

/** A Worker would compress an answer once more that has a content encoding; other runtimes do not know the word. */
const compressedBefore: MiddlewareHandler = async (c, next) => {
  await next();
  const { body, status, headers } = c.res;
  const init = { status, headers, encodeBody: "manual" };
  if (headers.has("content-encoding")) c.res = new Response(body, init);
};

/**
 * Everything comes from here, nothing runs inline, and no other page may frame or reach this one: a token is typed into it.
 * If people sign in at an issuer, the page may call its token endpoint, and frame it to renew silently; the
 * document that the issuer sends the frame back to may be framed by the page.
 */
function livePageHeaders(issuer: IssuerEndpoints | null, { isCallback }: { readonly isCallback: boolean }) {
  const originOf = (address: string) => new URL(address).origin;
  const connect = issuer === null ? "" : ` ${originOf(issuer.token_endpoint)}`;
  const frame = issuer === null ? "'none'" : `'self' ${originOf(issuer.authorization_endpoint)}`;
  return {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      `connect-src 'self'${connect}; frame-src ${frame}; manifest-src 'self'; base-uri 'none'; form-action 'none'; ` +
      `frame-ancestors ${isCallback ? "'self'" : "'none'"}`,
    "x-frame-options": isCallback ? "SAMEORIGIN" : "DENY",
  };
}
