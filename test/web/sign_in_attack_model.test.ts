import { afterEach, expect, test, vi } from "vitest";
import { finishSignIn, renewByRefreshToken } from "../../gateway/web/model/sign_in/authorization.ts";
import type { PendingSignIn } from "../../gateway/web/model/sign_in/authorization.ts";
import type { Provider } from "../../gateway/web/model/sign_in/provider.ts";

/**
 * Answers that somebody else slips into a sign-in, against the code that redeems them: one for each thing that oauth4webapi is told. The
 * issuer is a function in the place of `fetch`.
 */

afterEach(() => void vi.unstubAllGlobals());

const issuer = "https://issuer.test";
const pending: PendingSignIn = {
  state: "state-1",
  nonce: "nonce-1",
  verifier: "v".repeat(43),
  returnTo: "",
  tenantId: null,
  draft: "",
};
const provider: Provider = {
  issuer,
  client_id: "page",
  scopes: "openid",
  audience: "gateway",
  tenant_claim: "tenant_id",
  endpoints: {
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    end_session_endpoint: null,
    authorization_response_iss_parameter_supported: true,
  },
};

type Claims = Readonly<Record<string, unknown>>;

const nowSeconds = Math.floor(Date.now() / 1000);
const ownClaims: Claims = {
  iss: issuer,
  aud: "page",
  sub: "ann",
  nonce: "nonce-1",
  iat: nowSeconds,
  exp: nowSeconds + 60,
};

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Returns the requests of the token endpoint, which answers with an id token of these claims. */
function issueTokens(claims: Claims, status = 200): URLSearchParams[] {
  const asked: URLSearchParams[] = [];
  vi.stubGlobal("document", { baseURI: "https://gateway.test/" });
  vi.stubGlobal("fetch", async (_url: unknown, { body }: RequestInit) => {
    asked.push(new URLSearchParams(await new Response(body ?? null).text()));
    const idToken = [encode({ alg: "RS256" }), encode(claims), "c2ln"].join(".");
    const tokens = { access_token: "a.b.c", token_type: "Bearer", expires_in: 60, id_token: idToken };
    return Response.json(status === 200 ? tokens : { error: "invalid_grant" }, { status });
  });
  return asked;
}

const ownAnswer = `code=own&state=state-1&iss=${issuer}`;
const finish = (answer = ownAnswer, known: PendingSignIn | null = pending) =>
  finishSignIn(provider, new URLSearchParams(answer), known);

test("the tab's own answer is redeemed once, with its verifier", async () => {
  const asked = issueTokens(ownClaims);
  const tokens = await finish();
  expect(tokens.subject).toBe("ann");
  expect(asked.map((body) => [body.get("code"), body.get("code_verifier")])).toEqual([["own", pending.verifier]]);
});

test.each([
  ["login CSRF: no sign-in of this tab", ownAnswer, null],
  ["another tab's state", ownAnswer.replace("state-1", "state-2"), pending],
  ["mix-up: another issuer's answer", ownAnswer.replace(issuer, "https://evil.test"), pending],
  ["mix-up: an answer that names no issuer", "code=own&state=state-1", pending],
])("%s: nothing is sent to the issuer", async (_attack, answer, known) => {
  const asked = issueTokens(ownClaims);
  await expect(finish(answer, known)).rejects.toMatchObject({ name: "SignInError" });
  expect(asked).toEqual([]);
});

test.each<readonly [string, Claims]>([
  ["an injected code: the nonce of the attacker's sign-in", { nonce: "nonce-2" }],
  ["another application's id token", { aud: "other" }],
  ["another issuer's id token", { iss: "https://evil.test" }],
  ["an id token of yesterday", { iat: nowSeconds - 90_000, exp: nowSeconds - 86_400 }],
])("%s: nobody is signed in", async (_attack, claims) => {
  issueTokens({ ...ownClaims, ...claims });
  await expect(finish()).rejects.toMatchObject({ name: "SignInError", code: "sign_in" });
});

test("a refresh token that was stolen and used, or that renews into somebody else, ends the session", async () => {
  issueTokens(ownClaims);
  const known = await finish();
  const renewed = () => renewByRefreshToken(provider, { ...known, refreshToken: "r" }, AbortSignal.timeout(5000));
  issueTokens({ ...ownClaims, nonce: undefined });
  expect((await renewed()).subject).toBe("ann");
  issueTokens({ ...ownClaims, nonce: undefined, sub: "eve" });
  await expect(renewed()).rejects.toMatchObject({ code: "sign_in" });
  issueTokens({}, 400);
  await expect(renewed()).rejects.toMatchObject({ code: "sign_in" });
});
