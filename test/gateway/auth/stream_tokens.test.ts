import { base64url, decodeJwt, SignJWT } from "jose";
import { expect, test } from "vitest";
import type { Principal } from "../../../gateway/auth/principal.ts";
import { createStreamTokens } from "../../../gateway/auth/stream_tokens.ts";

const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const stream = "/api/v1/event-stream?scan_id=7c9e6679-7425-40de-944b-e07fc1f90ae7";
const secret = "0123456789abcdef0123456789abcdef";
const startMs = Date.UTC(2026, 10, 21);
const user: Principal = { kind: "user", tenantId, id: "alice", expiresAtMs: startMs + 600_000, onlyStream: null };

function tokensAt(ms: number) {
  return createStreamTokens(secret, () => ms);
}

test("a stream token opens a stream for 60 s and not longer", async () => {
  const token = await tokensAt(startMs).issue(user, stream);
  await expect(tokensAt(startMs + 59_999).verify(token)).resolves.toBeDefined();
  await expect(tokensAt(startMs + 60_000).verify(token)).rejects.toMatchObject({ code: "not_authenticated" });
});

test("is refused when signed with another secret, changed, or of another kind", async () => {
  const token = await tokensAt(startMs).issue(user, stream);
  const [header, payload, signature] = token.split(".");
  const claims = decodeJwt(token);
  const changed = base64url.encode(JSON.stringify({ ...claims, principal: { ...user, id: "root" } }));
  const sign = (protectedHeader: { alg: string; typ?: string }, changes: object) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader(protectedHeader).sign(new TextEncoder().encode(secret));
  const typ = "scanstream-stream+jwt";
  for (const bad of [
    await createStreamTokens("f".repeat(32), () => startMs).issue(user, stream),
    `${header}.${changed}.${signature}`,
    `${base64url.encode('{"alg":"none","typ":"scanstream-stream+jwt"}')}.${payload}.`,
    await sign({ alg: "HS384", typ }, {}),
    await sign({ alg: "HS256", typ: "JWT" }, {}),
    await sign({ alg: "HS256" }, {}),
    await sign({ alg: "HS256", typ }, { aud: "other" }),
    await sign({ alg: "HS256", typ }, { iss: "other" }),
    await sign({ alg: "HS256", typ }, { exp: undefined }),
    await sign({ alg: "HS256", typ }, { principal: undefined }),
    await sign({ alg: "HS256", typ }, { principal: user }),
  ]) {
    await expect(tokensAt(startMs).verify(bad)).rejects.toMatchObject({ code: "not_authenticated" });
  }
  // The same claims, signed as they should be, are good: what was refused was the change.
  await expect(tokensAt(startMs).verify(await sign({ alg: "HS256", typ }, {}))).resolves.toBeDefined();
});
