import type { Mutation } from "./mutation.ts";

const algorithms = "`alg: none`, HS256 with the public key, an algorithm of another kind";
const ownKeys = "a key that the token brings along (`jwk`, `jku`, `x5u`), a `kid` that is a path, an address or SQL";
const claims = "foreign issuer or audience, expired, not yet valid, no expiry";
const wholeOnly = "changed, cut or recombined tokens and headers";
const fallback = "a bad header that falls back to the query, two tokens at once";
const guessing = "guessing API keys";
const streamToken = "a stolen stream token";
const wrongStream = "a stream token for what its owner may not follow, or for an address elsewhere";
const ended = "authority that ended";
const replay = "a replayed DPoP proof or client assertion of our scanner";

const verified = "return (await jwtVerify(token, keys, options)).payload;";

const anySignature =
  'if (error instanceof errors.JWSSignatureVerificationFailed) return (await import("jose")).decodeJwt(token);\n' +
  "      if (error instanceof errors.JOSEError) throw badToken(error);";

/** The first table of `docs/threat_model.md`; its rows about members, roles and keys are in team.ts. */
export const gettingIn: readonly Mutation[] = [
  {
    mistake: "a stream token opens its path, whatever the query names",
    holds: [streamToken],
    file: "gateway/streaming/requested_stream.ts",
    find: "return { name: query.size === 0 ? pathname : `${pathname}?${query}`, query };",
    replace: "return { name: pathname, query };",
    testFile: "test/gateway/streaming/event_stream_route.test.ts",
    test: "a stream token opens its own stream",
  },
  {
    mistake: "a stream token is issued before the stream is looked up",
    holds: [wrongStream, "S3"],
    file: "gateway/http/stream_token_route.ts",
    find: "    await findChannels(stream, principal, { database, lookups: streams.lookups });\n",
    replace: "    void [findChannels, database, streams];\n",
    testFile: "test/gateway/http/stream_token_route.test.ts",
    test: "a token is issued for",
  },
  {
    mistake: "of the address of a stream only the path is looked at",
    holds: [wrongStream],
    file: "gateway/http/stream_token_route.ts",
    find: "const stream = url?.origin === base ?",
    replace: "const stream = url !== null ?",
    testFile: "test/gateway/http/stream_token_route.test.ts",
    test: "what is no path",
  },
  {
    mistake: "a token is decoded, and its signature not checked",
    holds: [algorithms, "S3"],
    file: "gateway/auth/jwt.ts",
    find: verified,
    replace: 'return (await import("jose")).decodeJwt(token);',
    testFile: "test/gateway/auth/jwt.test.ts",
    test: "refuses a token without signature",
  },
  {
    mistake: "an algorithm that is not on the list is let through instead of refused",
    holds: [algorithms],
    file: "gateway/auth/jwt.ts",
    find: "if (error instanceof errors.JWKSMultipleMatchingKeys) {",
    replace:
      'if (error instanceof errors.JOSEAlgNotAllowed) return (await import("jose")).decodeJwt(token);\n' +
      "    if (error instanceof errors.JWKSMultipleMatchingKeys) {",
    testFile: "test/gateway/auth/jwt.test.ts",
    test: "refuses HS256 with the public key",
  },
  {
    mistake: "the key in the token's own header is taken when there is one",
    holds: [ownKeys],
    file: "gateway/auth/jwt.ts",
    find: verified,
    replace:
      "return (await jwtVerify(token, async (header, jws) => (header.jwk === undefined ? keys(header, jws) : " +
      'importJWK(header.jwk, "ES256")), options)).payload;',
    testFile: "test/gateway/auth/jwt.test.ts",
    test: "never follows a key",
  },
  {
    mistake: "keys are fetched from the address that the token names",
    holds: [ownKeys],
    file: "gateway/auth/jwt.ts",
    find: "return async (header, token) => {",
    replace:
      "return async (header, token) => {\n" +
      "    if (header.jku !== undefined) return createLocalJWKSet(await (await fetch(header.jku)).json())(header, token);",
    testFile: "test/attacks/requests.test.ts",
    test: "%j is an unknown key id",
  },
  {
    mistake: "expired tokens are good for a minute more",
    holds: [claims, "S4"],
    file: "gateway/auth/jwt.ts",
    find: "const clockToleranceSeconds = 5;",
    replace: "const clockToleranceSeconds = 60;",
    testFile: "test/gateway/auth/jwt.test.ts",
    test: "clocks may differ",
  },
  {
    mistake: "the issuer is not compared",
    holds: [claims],
    file: "gateway/auth/jwt.ts",
    find: "issuer: options.issuer,",
    replace: "",
    testFile: "test/gateway/auth/jwt.test.ts",
    test: "refused: %s",
  },
  {
    mistake: "the audience is not compared",
    holds: [claims],
    file: "gateway/auth/jwt.ts",
    find: "audience: options.audience,",
    replace: "",
    testFile: "test/gateway/auth/jwt.test.ts",
    test: "refused: %s",
  },
  {
    mistake: "the members of any tenant may read every tenant",
    holds: ["a tenant claim of a tenant that one is not a member of", "S3"],
    file: "gateway/auth/membership.ts",
    find: "where tenant_id = $1::uuid and user_id = $2",
    replace: "where tenant_id = $1::uuid or user_id = $2",
    testFile: "test/gateway/auth/authenticate.test.ts",
    test: "%s %s: 403 for a subject that is no member",
  },
  {
    mistake: "the first credential of a header counts, whatever comes after it",
    holds: [wholeOnly],
    file: "gateway/auth/authenticate.ts",
    find: "([^\\s,]+) *$/i",
    replace: "([^\\s,]+)/i",
    testFile: "test/fuzz/gateway.test.ts",
    test: "no Authorization header but a whole one",
  },
  {
    mistake: "a stream token's signature is not checked",
    holds: [wholeOnly],
    file: "gateway/auth/stream_tokens.ts",
    find: "if (error instanceof errors.JOSEError) throw badToken(error);",
    replace: anySignature,
    testFile: "test/fuzz/gateway.test.ts",
    test: "no token but a whole one",
  },
  {
    mistake: "an empty header counts as none",
    holds: [fallback],
    file: "gateway/auth/authenticate.ts",
    find: "if (authorization === null) return fromStreamCredential(queryToken(request));",
    replace: 'if (authorization === null || authorization === "") return fromStreamCredential(queryToken(request));',
    testFile: "test/gateway/auth/authenticate.test.ts",
    test: "%j wins over whatever is in the query",
  },
  {
    mistake: "of two tokens in a query the first counts",
    holds: [fallback],
    file: "gateway/auth/authenticate.ts",
    find: 'if (others.length > 0 || token === "") throw badToken();',
    replace: 'if (others.length > 9 || token === "") throw badToken();',
    testFile: "test/gateway/auth/authenticate.test.ts",
    test: "two tokens are refused",
  },
  {
    mistake: "only the beginning of an API key is hashed and compared",
    holds: [guessing],
    file: "gateway/auth/api_keys.ts",
    find: "return sha256Hex(apiKey);",
    replace: "return sha256Hex(apiKey.slice(0, 40));",
    testFile: "test/attacks/requests.test.ts",
    test: "the first wrong character",
  },
  {
    mistake: "every text that begins like a key costs a query",
    holds: [guessing],
    file: "gateway/auth/api_keys.ts",
    find: "return pattern.test(text);",
    replace: 'return text.startsWith("scs_");',
    testFile: "test/attacks/requests.test.ts",
    test: "a guess that is no key",
  },
  {
    mistake: "a stream token is good for an hour",
    holds: [streamToken],
    file: "gateway/auth/stream_tokens.ts",
    find: "issuedAt + streamTokenSeconds",
    replace: "issuedAt + streamTokenSeconds * 60",
    testFile: "test/gateway/auth/stream_tokens.test.ts",
    test: "opens for 60 s",
  },
  {
    mistake: "a stream token may be of any type that is signed with the secret",
    holds: [streamToken],
    file: "gateway/auth/stream_tokens.ts",
    find: "        typ: type,\n        issuer,",
    replace: "        issuer,",
    testFile: "test/gateway/auth/stream_tokens.test.ts",
    test: "is refused when signed with another secret",
  },
  {
    mistake: "a stream token of any secret is taken",
    holds: [streamToken],
    file: "gateway/auth/stream_tokens.ts",
    find: "if (error instanceof errors.JOSEError) throw badToken(error);",
    replace: anySignature,
    testFile: "test/gateway/auth/stream_tokens.test.ts",
    test: "is refused when signed with another secret",
  },
  {
    mistake: "a stream whose authority ended is found by the recheck, and not closed",
    holds: [ended, "S4"],
    file: "gateway/streaming/authority_recheck.ts",
    find: 'if (!isAllowed.has(subjectKey(stream.principal))) stream.close("revoked");',
    replace: "void [stream, isAllowed];",
    testFile: "test/gateway/streaming/event_streams.test.ts",
    test: "S4: within the recheck time",
  },
  {
    mistake: "authority is rechecked far more rarely than promised",
    holds: [ended, "S4"],
    file: "gateway/streaming/authority_recheck.ts",
    find: "fromMs + recheckMs * 0.6 *",
    replace: "fromMs + recheckMs * 20 *",
    testFile: "test/gateway/streaming/authority_recheck.test.ts",
    test: "a revoked stream is closed within the interval",
  },
  {
    mistake: "the time that a stream waited for the broker is not part of the interval",
    holds: [ended, "S4"],
    file: "gateway/streaming/local_streams.ts",
    find: "recheck.admit(tenant, stream);",
    replace: "",
    testFile: "test/gateway/streaming/open_stream.test.ts",
    test: "S4: the recheck of a stream that waited for the broker",
  },
  {
    mistake: "streams stay open for long while the database is unavailable",
    holds: [ended],
    file: "gateway/streaming/authority_recheck.ts",
    find: "if (unconfirmedMs < 2 * recheckMs) continue;",
    replace: "if (unconfirmedMs < 6 * recheckMs) continue;",
    testFile: "test/faults/database.test.ts",
    test: "a database that falls silent",
  },
  {
    mistake: "a proof may be sent again",
    holds: [replay],
    file: "practice_org/auth/dpop_proof.ts",
    find: "if (!context.replays.admit(id, context.nowSeconds)) return",
    replace: "if (id.length > 1000) return",
    testFile: "test/practice_org/token_endpoint.test.ts",
    test: "is for one use",
  },
  {
    mistake: "every assertion of the scanner has the same jti",
    holds: [replay],
    file: "scanner/idp/oauth_client.ts",
    find: "Object.assign(claims, { aud: tokenUrl,",
    replace: "Object.assign(claims, { jti: clientId, aud: tokenUrl,",
    testFile: "test/scanner/idp/token.test.ts",
    test: "the nonce that the provider asks for",
  },
];
