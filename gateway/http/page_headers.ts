import type { IssuerEndpoints } from "../auth/sign_in.ts";

/** A token is typed into these pages: no other page may frame or reach them. */
const pageHeaders = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "x-frame-options": "DENY",
} as const;

/**
 * Everything comes from here, and nothing runs inline. Where people sign in at an issuer, the page may call its token endpoint,
 * and frame it for renewing without a word; the document that the issuer sends the frame back to may be framed by the page.
 */
export function livePageHeaders(issuer: IssuerEndpoints | null, { isCallback }: { readonly isCallback: boolean }) {
  const originOf = (address: string) => new URL(address).origin;
  const connect = issuer === null ? "" : ` ${originOf(issuer.token_endpoint)}`;
  const frame = issuer === null ? "'none'" : `'self' ${originOf(issuer.authorization_endpoint)}`;
  return {
    ...pageHeaders,
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      `connect-src 'self'${connect}; frame-src ${frame}; manifest-src 'self'; base-uri 'none'; form-action 'none'; ` +
      `frame-ancestors ${isCallback ? "'self'" : "'none'"}`,
    "x-frame-options": isCallback ? "SAMEORIGIN" : "DENY",
  };
}
