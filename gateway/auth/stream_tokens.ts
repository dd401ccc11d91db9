import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from "jose";
import { badToken, tokenProblem } from "./jwt.ts";
import type { Principal } from "./principal.ts";
import { sha256Hex } from "./sha256.ts";

/**
 * Stream tokens: what a browser's `EventSource` may carry in a URL. One opens one event stream for a minute, which then
 * depends on the authority of the token's requester.
 *
 * They share nothing with user tokens: another algorithm, type, issuer and audience, so neither passes for the other.
 */
export type StreamTokens = ReturnType<typeof createStreamTokens>;

/** How long a stream may be opened with a token. */
export const streamTokenSeconds = 60;

const type = "scanstream-stream+jwt";
const issuer = "urn:scanstream:gateway";
const audience = "urn:scanstream:event-stream";

export function createStreamTokens(secret: string, nowMs: () => number) {
  const key = new TextEncoder().encode(secret);

  return {
    /** Signs a token that opens the named stream with the principal's own authority, for `streamTokenSeconds`. */
    async issue({ kind, tenantId, id, expiresAtMs }: Principal, streamName: string): Promise<string> {
      const issuedAt = Math.floor(nowMs() / 1000);
      // The name may be long, and a token is part of a URL.
      const principal: Principal = { kind, tenantId, id, expiresAtMs, onlyStream: await sha256Hex(streamName) };
      return new SignJWT({ principal })
        .setProtectedHeader({ alg: "HS256", typ: type })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + streamTokenSeconds)
        .sign(key);
    },

    /** Rejects with `AppError` `not_authenticated` when the token is forged, out of time, or its authority has ended. */
    async verify(token: string): Promise<Principal> {
      try {
        const { payload } = await jwtVerify<{ readonly principal?: Principal }>(token, key, {
          algorithms: ["HS256"],
          typ: type,
          issuer,
          audience,
          requiredClaims: ["exp"],
          currentDate: new Date(nowMs()),
        });
        const { principal } = payload;
        // Our own signature over something else, which may open more: a token of another release.
        if (typeof principal?.onlyStream !== "string") throw badToken("malformed");
        if (principal.expiresAtMs !== null && principal.expiresAtMs <= nowMs()) throw badToken("expired");
        return principal;
      } catch (error) {
        if (error instanceof errors.JOSEError) throw badToken(tokenProblem(error), error);
        throw error;
      }
    },
  };
}

/** True when the token's header claims a stream token. It only chooses the verifier, which rejects a false claim. */
export function looksLikeStreamToken(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === type;
  } catch {
    return false;
  }
}
