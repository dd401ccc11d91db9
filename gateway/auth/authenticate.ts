import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import type { FoundApiKey } from "../../drizzle/across_tenants.ts";
import { badKey, isApiKey } from "./api_keys.ts";
import { toPrincipal, type Identity, type AllowedPrincipal, type Principal } from "./principal.ts";
import { type JwtVerifier, badToken } from "./jwt.ts";
import { requireScope } from "./membership.ts";
import { permissions, rolesOf, type Permission } from "./permissions.ts";
import { sha256Hex } from "./sha256.ts";
import { looksLikeStreamToken, type StreamTokens } from "./stream_tokens.ts";

/**
 * Identifies the caller. Rejects with `AppError` `not_authenticated` (no or bad credentials), or `unavailable` while the
 * database or the issuer is: an outage is never a 401; and with `PermissionDenied` where the credential itself says that it may not.
 * `toPrincipal` chooses one of several tenants.
 *
 * Each statement checks the user's role, and that a key is still valid: see `membership.ts`.
 */
export type Authenticator = ReturnType<typeof createAuthenticator>;

export interface AuthenticatorOptions {
  /** Null where no user token can be accepted: an edge without issuer has API keys only. */
  readonly jwtVerifier: JwtVerifier | null;
  readonly streamTokens: StreamTokens;
  /** The key with this SHA-256. */
  readonly findApiKey: (hash: string, request: Request) => Promise<FoundApiKey | null>;
  /** SHA-256 in hex, at once: Web Crypto's waits behind what others compress. Default: Web Crypto's. */
  readonly hashKey?: (apiKey: string) => string;
}

/** One credential of one scheme: a header that holds more, or repeats itself, is not a credential. */
const authorizationPattern = /^(bearer|api-key) +([^\s,]+) *$/i;

export function createAuthenticator(options: AuthenticatorOptions) {
  const { hashKey = sha256Hex, findApiKey } = options;
  const findKnownKey = rememberKeys(findApiKey);
  return {
    /** Ordinary routes: the `Authorization` header, nothing else. */
    async authenticate(request: Request, permission: Permission): Promise<AllowedPrincipal> {
      const identity = await identify(request, findKnownKey);
      requireHolder(identity, permission);
      return { ...toPrincipal(identity, request), permission };
    },

    /** Event streams: the header; with no header at all, the JWT in `access_token`. Stream tokens count here only. */
    async authenticateStream(request: Request): Promise<Principal> {
      const identity = await identifyForStream(request);
      requireHolder(identity, "read");
      return toPrincipal(identity, request);
    },

    /** As `authenticate`, before one of several tenants is chosen. */
    identify: (request: Request) => identify(request, findApiKey),
  };

  async function identify(request: Request, find: FindApiKey): Promise<Identity> {
    const authorization = request.headers.get("authorization");
    if (authorization === null) throw noCredentials(request);
    const credential = parseAuthorization(authorization);
    if (credential.scheme === "api-key") return fromApiKey(credential.value, request, find);
    if (looksLikeStreamToken(credential.value))
      throw new AppError("not_authenticated", "A stream token opens only its own event stream");
    return fromJwt(credential.value);
  }

  async function identifyForStream(request: Request): Promise<Identity> {
    const authorization = request.headers.get("authorization");
    // An empty header is a header: it does not fall back to the query.
    if (authorization === null) return fromStreamCredential(queryToken(request));
    const credential = parseAuthorization(authorization);
    if (credential.scheme === "api-key") return fromApiKey(credential.value, request, findKnownKey);
    return fromStreamCredential(credential.value);
  }

  async function fromApiKey(apiKey: string, request: Request, find: FindApiKey): Promise<Identity> {
    const found = isApiKey(apiKey) ? await find(await hashKey(apiKey), request) : null;
    if (found === null) throw badKey("unknown_key");
    if (!found.isValid) throw badKey("revoked_key");
    const { tenantId, isValid: _, ...key } = found;
    return { ...key, kind: "api_key", tenantIds: [tenantId], onlyStream: null };
  }

  async function fromJwt(token: string): Promise<Identity> {
    requireCompact(token);
    if (options.jwtVerifier === null) throw badToken("issuer");
    return options.jwtVerifier.verify(token);
  }

  async function fromStreamCredential(token: string): Promise<Identity> {
    requireCompact(token);
    // The tolerance for clocks is for requests: a stream ends at `exp`, and opening one after it is refused there.
    if (!looksLikeStreamToken(token)) return fromJwt(token);
    const { tenantId, ...principal } = await options.streamTokens.verify(token);
    return { ...principal, tenantIds: [tenantId], name: null, scopes: null };
  }
}

/** Checks what the credential itself says; what a member's role allows is checked with each statement. */
function requireHolder({ kind, scopes }: Identity, permission: Permission): void {
  if (scopes !== null) requireScope(permission, scopes);
  if (kind !== "user" || rolesOf(permission).length > 0) return;
  throw new PermissionDenied(
    `Only an API key with the scope ${permissions[permission].scopes.join(" or ")} can do this`,
  );
}

function parseAuthorization(authorization: string): { readonly scheme: "bearer" | "api-key"; readonly value: string } {
  const [, scheme, value] = authorizationPattern.exec(authorization) ?? [];
  if (scheme === undefined || value === undefined) {
    throw new AppError("not_authenticated", 'The Authorization header is not "Bearer <token>" or "Api-Key <key>"', {
      loginProblem: "malformed",
    });
  }
  return { scheme: scheme.toLowerCase() === "bearer" ? "bearer" : "api-key", value };
}

/** Decoders of base64url pass over blanks and line ends; a token that was given is the one that was issued, letter for letter. */
function requireCompact(token: string): void {
  if (isApiKey(token)) {
    throw new AppError("not_authenticated", "An API key is sent as `Authorization: Api-Key <key>`", {
      loginProblem: "api_key_as_bearer",
    });
  }
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw badToken("malformed");
}

/** The query's token. Two tokens are rejected: which of them counts would depend on the parser. */
function queryToken(request: Request): string {
  const [token, ...others] = new URL(request.url).searchParams.getAll("access_token");
  if (token === undefined) throw noCredentials(request, ", or a token as ?access_token=<token>");
  if (others.length === 0 && token !== "") return token;
  throw new AppError("not_authenticated", "access_token is empty or given more than once: expected one token", {
    loginProblem: "malformed",
  });
}

function noCredentials({ headers, url }: Request, other = ""): AppError {
  const expected = `send "Authorization: Bearer <token>" or "Authorization: Api-Key <key>"${other}`;
  const unread = headers.has("x-api-key")
    ? "the header X-API-Key is not read: "
    : new URL(url).searchParams.has("api_key")
      ? "api_key in the query is not read: "
      : "";
  return new AppError("not_authenticated", `No credentials: ${unread}${expected}`);
}

type FindApiKey = AuthenticatorOptions["findApiKey"];

/** As often as the database notes that a key is used. */
const rememberedMs = 60_000;
const maxKeys = 10_000;

/**
 * Finds keys again that were valid within a minute: their tenant, name, scopes and end never change. A key may have been revoked since,
 * so this is only for callers who check its authority in their own transaction. It saves one of two transactions when thousands
 * of streams open again.
 */
function rememberKeys(find: FindApiKey): FindApiKey {
  const keys = new Map<string, { readonly found: FoundApiKey; readonly untilMs: number }>();
  return async (hash, request) => {
    const known = keys.get(hash);
    if (known !== undefined && performance.now() < known.untilMs) return known.found;
    const found = await find(hash, request);
    keys.delete(hash);
    if (found?.isValid !== true) return found;
    keys.set(hash, { found, untilMs: performance.now() + rememberedMs });
    const [oldest] = keys.keys();
    if (keys.size > maxKeys && oldest !== undefined) keys.delete(oldest);
    return found;
  };
}
