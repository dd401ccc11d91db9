import { createHash, randomBytes } from "node:crypto";
import type { Person } from "./people.ts";
import type { UserGrant } from "./user_tokens.ts";

/** A browser that has signed in. Its id is in a cookie, and in id tokens as `sid`. */
export interface SignInSession {
  readonly id: string;
  readonly person: Person;
  readonly authTimeSeconds: number;
}

/** What a code was issued for, RFC 6749 section 4.1.3 and RFC 7636. */
export interface CodeGrant extends UserGrant {
  readonly redirectUri: string;
  readonly codeChallenge: string;
}

/** All refresh tokens that come from one sign-in: of them the newest is good, and an older one ends all of them. */
interface TokenFamily {
  readonly grant: UserGrant;
  currentDigest: string;
  expiresAtMs: number;
}

/** Sessions, codes and refresh tokens: what the provider remembers. Of each the newest few thousand. */
export interface Grants {
  openSession(person: Person, nowMs: number): SignInSession;
  findSession(id: string | null, nowMs: number): SignInSession | null;
  /** Its refresh tokens go with it. */
  closeSession(id: string): void;
  issueCode(grant: CodeGrant, nowMs: number): string;
  /** For one use within a minute; null for any other code, and then what the first use gave is no longer good. */
  redeemCode(code: string, nowMs: number): CodeGrant | null;
  /** `code`: the one it was given for. */
  issueRefreshToken(grant: UserGrant, nowMs: number, code: string): string;
  /** The grant and the next refresh token; null for one that is unknown, was used before, or has ended. */
  rotate(refreshToken: string, nowMs: number): { readonly grant: UserGrant; readonly refreshToken: string } | null;
}

const maxEntries = 5000;
const codeMs = 60_000;
const sessionMs = 8 * 3_600_000;

export function createGrants(): Grants {
  const sessions = new Map<string, SignInSession & { readonly expiresAtMs: number }>();
  const codes = new Map<string, { readonly grant: CodeGrant; readonly expiresAtMs: number; isUsed: boolean }>();
  const families = new Map<string, TokenFamily>();

  function dropFamily(key: string): void {
    families.delete(key);
  }

  return {
    openSession(person, nowMs) {
      // A new id at every sign-in: one that was planted before is worth nothing.
      const session = {
        id: secret(),
        person,
        authTimeSeconds: Math.floor(nowMs / 1000),
        expiresAtMs: nowMs + sessionMs,
      };
      put(sessions, session.id, session);
      return session;
    },
    findSession(id, nowMs) {
      const session = id === null ? undefined : sessions.get(id);
      return session === undefined || session.expiresAtMs <= nowMs ? null : session;
    },
    closeSession(id) {
      sessions.delete(id);
      for (const [key, { grant }] of families) if (grant.sessionId === id) dropFamily(key);
    },
    issueCode(grant, nowMs) {
      const code = secret();
      put(codes, digest(code), { grant, expiresAtMs: nowMs + codeMs, isUsed: false });
      return code;
    },
    redeemCode(code, nowMs) {
      const key = digest(code);
      const found = codes.get(key);
      if (found === undefined) return null;
      // RFC 6749 section 4.1.2: a code that comes twice was stolen, before the first use or after it.
      if (found.isUsed) dropFamily(key);
      const isGood = !found.isUsed && nowMs < found.expiresAtMs;
      found.isUsed = true;
      return isGood ? found.grant : null;
    },
    issueRefreshToken(grant, nowMs, code) {
      const key = digest(code);
      const token = `${key}.${secret()}`;
      put(families, key, { grant, currentDigest: digest(token), expiresAtMs: nowMs + sessionMs });
      return token;
    },
    rotate(refreshToken, nowMs) {
      const [key = ""] = refreshToken.split(".", 1);
      const family = families.get(key);
      if (family === undefined) return null;
      if (family.currentDigest !== digest(refreshToken) || family.expiresAtMs <= nowMs) {
        // RFC 9700 section 4.14.2: whoever of the two is the thief, neither goes on.
        dropFamily(key);
        return null;
      }
      const next = `${key}.${secret()}`;
      family.currentDigest = digest(next);
      return { grant: family.grant, refreshToken: next };
    },
  };
}

function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxEntries && oldest !== undefined) map.delete(oldest);
}

export function secret(): string {
  return randomBytes(32).toString("base64url");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
