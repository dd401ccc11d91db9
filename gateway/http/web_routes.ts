import { Hono } from "hono";
import { etag } from "hono/etag";
import { anyone } from "../auth/access.ts";
import type { IssuerEndpoints } from "../auth/sign_in.ts";
import { NotFound } from "../../shared/app_error.ts";
import type { PageDependencies } from "./dependencies.ts";

/** The live page and its files. */
export function webRoutes({ webAssets, signIn }: PageDependencies): Hono {
  const routes = new Hono();
  // Made of the bytes that are sent, so that each encoding has its own.
  const tagged = etag();
  routes.get("/", anyone, tagged, (c) => pageResponse(c.req.header("accept-encoding"), { isCallback: false }));
  // The issuer sends people back to the page, which takes what is in the query.
  if (signIn !== null) {
    routes.get("/callback", anyone, tagged, (c) => pageResponse(c.req.header("accept-encoding"), { isCallback: true }));
  }
  // Their names change with what is in them.
  routes.get("/assets/:file", anyone, tagged, (c) =>
    assetResponse(`assets/${c.req.param("file")}`, c.req.header("accept-encoding"), {
      ...livePageHeaders(null, { isCallback: false }),
      "cache-control": "public, max-age=31536000, immutable",
    }),
  );
  return routes;

  async function pageResponse(accepted: string | undefined, options: { readonly isCallback: boolean }) {
    const endpoints = (await signIn?.endpoints()) ?? null;
    const headers = { ...livePageHeaders(endpoints, options), "cache-control": "no-cache" };
    return assetResponse("index.html", accepted, headers);
  }

  async function assetResponse(
    path: string,
    accepted: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const contentType = contentTypeOf(path);
    if (contentType === null) throw new NotFound("No such file");
    for (const { name, suffix } of encodings) {
      if (name !== null && !accepts(accepted, name)) continue;
      const body = await webAssets.read(`${path}${suffix}`);
      if (body === null) continue;
      const init = {
        headers: {
          ...headers,
          "content-type": contentType,
          "content-length": String(body.byteLength),
          vary: "accept-encoding",
          ...(name === null ? {} : { "content-encoding": name }),
        },
        // A Worker would compress it again; other runtimes do not know the word.
        ...(name === null ? {} : { encodeBody: "manual" }),
      };
      return new Response(body, init);
    }
    throw new NotFound("No such file");
  }
}

/**
 * Everything comes from here, nothing runs inline, and no other page may frame or reach this one: a token is typed into it.
 * Where people sign in at an issuer, the page may call its token endpoint, and frame it for renewing without a word; the
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

/** The smallest first. */
const encodings = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
  { name: null, suffix: "" },
] as const;

/** Follows https://www.rfc-editor.org/rfc/rfc9110#name-accept-encoding; which one weighs more does not matter, but `q=0` refuses. */
function accepts(header: string | undefined, coding: string): boolean {
  const offered = new Map(
    (header ?? "").split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      return [name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))];
    }),
  );
  return offered.get(coding) ?? offered.get("*") ?? false;
}

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** Null: files of this kind are not served. */
function contentTypeOf(path: string): string | null {
  return contentTypes[path.slice(path.lastIndexOf(".") + 1)] ?? null;
}
