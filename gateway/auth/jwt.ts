import { getRuntimeKey } from "hono/adapter";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  importJWK,
  jwtVerify,
  type CryptoKey,
  type FetchImplementation,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type JWTPayload,
  type JWTVerifyOptions,
} from "jose";
import { AppError, type LoginProblem } from "../../shared/app_error.ts";
import { isUuid, lowerCaseUuids } from "../../shared/channel_name.ts";
import { parseJsonObject } from "../../shared/json.ts";
import { readBounded } from "../../shared/read_bounded.ts";
import { settingsError } from "../../shared/usage_error.ts";
import type { IssuerOptions, Jwks } from "../config.ts";
import { silentLog, type Log } from "../observability/log.ts";
import type { Identity } from "./principal.ts";
import { signatureAlgorithms } from "./signature_algorithms.ts";

/** Checks a user's JWT. Rejects with `AppError` `not_authenticated`, or `unavailable` when no key can be had at all. */
export interface JwtVerifier {
  verify(token: string): Promise<Identity>;
}

/** Finds the public key that a token's key id names, in the form that jose takes; pointers to a key (`jku`, `x5u`, `jwk`) are never read. */
type KeySource = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

const clockToleranceSeconds = 5;
/** A database's index holds it, and no issuer needs more. */
const maxSubjectLength = 512;
/** Tenants of one person; each costs a query where all of them are shown. */
const maxTenants = 50;

/** One sentence for every bad token: which part was wrong would help to forge one. The log says it. */
export function badToken(loginProblem: LoginProblem, cause?: unknown): AppError {
  return new AppError("not_authenticated", "The token is not valid for this gateway", { loginProblem, cause });
}

const claimProblems: Readonly<Record<string, LoginProblem>> = { iss: "issuer", aud: "audience", nbf: "not_yet_valid" };

/** Names what jose refused. */
export function tokenProblem(error: unknown): LoginProblem {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return claimProblems[error.claim] ?? "malformed";
  const isUnsigned =
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JOSEAlgNotAllowed;
  return isUnsigned ? "signature" : "malformed";
}

/** Accepts the JWTs of the issuer. Rejects with `UsageError` for keys that cannot be imported. `elapsedMs` measures the age of fetched keys. */
export async function createIssuerVerifier(
  options: IssuerOptions,
  log: Pick<Log, "warn"> = silentLog,
  { nowMs = Date.now, elapsedMs = () => performance.now() } = {},
): Promise<JwtVerifier> {
  const { issuer, audience, tenantClaim = "tenant_id" } = options;
  const keys = "jwks" in options ? await createInlineKeys(options.jwks) : createRemoteKeys(options.url, log, elapsedMs);
  return {
    async verify(token) {
      const payload = await verifySignature(token, keys, {
        algorithms: signatureAlgorithms,
        issuer,
        audience,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ["exp", "sub"],
        currentDate: new Date(nowMs()),
      });
      return toIdentity(payload, tenantClaim);
    },
  };
}

/** Keys given inline. Rejects with `UsageError` when no key can be used, so that it is found at start. */
async function createInlineKeys(jwks: Jwks): Promise<KeySource> {
  const usable = await Promise.all(jwks.keys.map(isUsable));
  if (!usable.includes(true)) throw settingsError("AUTH_JWKS: expected a key that can be imported, but no key can be");
  return createLocalJWKSet({ keys: [...jwks.keys] });
}

/** After this age the keys are fetched again, so that one taken out of service stops counting. */
const refreshAfterMs = 600_000;
/** Between two fetches while there are keys to fall back on: unknown key ids must not become a flood of requests. */
const cooldownMs = 30_000;
/** Between two fetches while there is no key at all, or a key id is unknown because the last fetch failed. */
const emptyCooldownMs = 1000;
const fetchTimeoutMs = 5000;
const maxKeySetBytes = 1_048_576;

/**
 * Keys fetched from the issuer, stale if it fails: an outage leaves the known keys in use. Without any it is `unavailable`
 * (503), as is a key id that is unknown while the issuer does not answer: neither means that the token is bad.
 */
function createRemoteKeys(url: string, log: Pick<Log, "warn">, nowMs: () => number): KeySource {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: fetchTimeoutMs,
    // Never by itself: jose would refuse known keys when a refresh fails, and make a rotated key wait for its cooldown.
    cacheMaxAge: Infinity,
    cooldownDuration: Infinity,
    [customFetch]: fetchKeySet,
  });
  let loadedAtMs = -Infinity;
  let triedAtMs = -Infinity;
  let missedAtMs = -Infinity;
  let lastFailure: unknown = null;

  /** On Workers a request may not await another request's fetch, and jose starts one for each. */
  const canJoin = () => keys.reloading && getRuntimeKey() !== "workerd";

  async function load(): Promise<void> {
    triedAtMs = nowMs();
    try {
      await keys.reload();
      loadedAtMs = nowMs();
      lastFailure = null;
    } catch (cause) {
      // Requests go on with the keys that are known: nothing else says it before the next start.
      if (lastFailure === null) log.warn({ error: keysUnavailable(cause) }, "no signing keys came from the issuer");
      lastFailure = cause;
    }
  }

  return async (header, token) => {
    const atMs = nowMs();
    const isEmpty = loadedAtMs === -Infinity;
    const isDue = atMs - triedAtMs >= (isEmpty ? emptyCooldownMs : cooldownMs);
    // Stale keys hold up one token only, the others go on with them.
    if (isEmpty ? isDue || canJoin() : isDue && atMs - loadedAtMs >= refreshAfterMs) await load();
    if (loadedAtMs === -Infinity) throw keysUnavailable(lastFailure);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const mayFetch = atMs - missedAtMs >= (lastFailure === null ? cooldownMs : emptyCooldownMs);
      if (mayFetch) missedAtMs = atMs;
      if (mayFetch || canJoin()) await load();
      if (lastFailure !== null) throw keysUnavailable(lastFailure);
      return keys(header, token);
    }
  };
}

async function verifySignature(token: string, keys: KeySource, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      // A token without a key id: each key of its kind may be the one.
      let problem: LoginProblem = "signature";
      for await (const key of error) {
        try {
          return (await jwtVerify(token, key, options)).payload;
        } catch (refusal) {
          // Claims are checked after the signature: this key was the one.
          if (!["signature", "malformed"].includes(tokenProblem(refusal))) problem = tokenProblem(refusal);
        }
      }
      throw badToken(problem, error);
    }
    // jose answers an unusable key (RSA below 2048 bits) with a TypeError.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) {
      throw badToken(tokenProblem(error), error);
    }
    throw error;
  }
}

/** A `Date` is never later: one that has to be written has a text. */
const latestDateMs = 8_640_000_000_000_000;

function toIdentity(payload: JWTPayload, tenantClaim: string): Identity {
  const claim = payload[tenantClaim];
  const named: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const tenantIds = [...new Set(named.map((id) => (typeof id === "string" ? lowerCaseUuids(id) : id)))];
  const { sub, exp, name } = payload;
  if (tenantIds.length === 0 || tenantIds.length > maxTenants || !tenantIds.every(isUuid)) {
    throw badToken("tenant_claim");
  }
  // NUL cannot be stored or compared in Postgres text, so no member can be called that.
  if (typeof sub !== "string" || sub === "" || sub.length > maxSubjectLength || sub.includes("\0"))
    throw badToken("malformed");
  if (exp === undefined || !Number.isFinite(exp)) throw badToken("malformed");
  return {
    kind: "user",
    tenantIds,
    id: sub,
    name: typeof name === "string" && name !== "" ? name.slice(0, 200) : null,
    scopes: null,
    expiresAtMs: Math.min(exp * 1000, latestDateMs),
    onlyStream: null,
  };
}

/** Bounded, in place of jose's own. Redirects are not followed: they would let another server choose the keys. */
const fetchKeySet: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  const body = new TextDecoder().decode(await readBounded(response.body, maxKeySetBytes));
  const keys = parseJsonObject(body)?.["keys"];
  // An issuer that rotates its keys has others: this one starts, or is broken.
  const isEmpty = Array.isArray(keys) && keys.length === 0;
  if (response.status === 200 && !isEmpty) return new Response(body);
  const answer = isEmpty ? "with an empty one" : `with status ${response.status}`;
  throw new Error(`Cannot fetch the key set: the issuer answered ${answer}`);
};

async function isUsable(key: Readonly<Record<string, unknown>>): Promise<boolean> {
  const { kty, crv } = key;
  // Any algorithm of the key's kind will do: the question is whether its numbers make a key.
  const algorithm =
    kty === "RSA" ? "RS256" : kty === "OKP" ? "EdDSA" : `ES${String(crv).slice(2).replace("521", "512")}`;
  return importJWK({ ...key }, algorithm).then(
    () => true,
    () => false,
  );
}

function keysUnavailable(cause: unknown): AppError {
  return new AppError("unavailable", "The issuer's signing keys cannot be fetched now", { cause });
}
