import { expect, test } from "vitest";
import type { Identity } from "../../../gateway/auth/identity.ts";
import { withTokenCache } from "../../../gateway/auth/token_cache.ts";
import { AppError } from "../../../shared/app_error.ts";

function createVerifier({ expiresAtMs = 100_000, maxTokens = 10 } = {}) {
  const clock = { nowMs: 0 };
  const verified: string[] = [];
  const verifier = withTokenCache(
    {
      async verify(token) {
        verified.push(token);
        if (token.startsWith("bad")) throw new AppError("not_authenticated", "The token is not valid here");
        return {
          kind: "user",
          tenantIds: ["t"],
          id: token,
          name: null,
          scopes: null,
          expiresAtMs,
          onlyStream: null,
        } satisfies Identity;
      },
    },
    { digest: (token) => `digest of ${token}`, nowMs: () => clock.nowMs, maxTokens, maxAgeMs: 60_000 },
  );
  return { verifier, verified, clock };
}

test("a token is verified once, also when it arrives many times concurrently", async () => {
  const { verifier, verified } = createVerifier();
  const principals = await Promise.all([verifier.verify("a"), verifier.verify("a"), verifier.verify("b")]);
  await verifier.verify("a");
  expect(principals.map(({ id }) => id)).toEqual(["a", "a", "b"]);
  expect(verified).toEqual(["a", "b"]);
});

test.each([
  ["its exp", 5000, 5000],
  ["the age at which the keys are asked again", 100_000, 60_000],
])("a token is verified again from %s on", async (_until, expiresAtMs, untilMs) => {
  const { verifier, verified, clock } = createVerifier({ expiresAtMs });
  await verifier.verify("a");
  clock.nowMs = untilMs - 1;
  await verifier.verify("a");
  expect(verified).toHaveLength(1);
  clock.nowMs = untilMs;
  await verifier.verify("a");
  expect(verified).toHaveLength(2);
});

test("a rejection is never cached", async () => {
  const { verifier, verified } = createVerifier();
  await expect(verifier.verify("bad")).rejects.toThrow("not valid here");
  await expect(verifier.verify("bad")).rejects.toThrow("not valid here");
  expect(verified).toHaveLength(2);
});

test("caches up to its bound, and evicts the oldest", async () => {
  const { verifier, verified } = createVerifier({ maxTokens: 2 });
  for (const token of ["a", "b", "b", "c", "b", "c", "a"]) await verifier.verify(token);
  expect(verified).toEqual(["a", "b", "c", "a"]);
});
