import { generateKeyPairSync } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { IdpError } from "../../../scanner/okta/idp_error.ts";
import { parsePrivateKey } from "../../../scanner/okta/private_key.ts";
import { rejectionOf } from "../../support/errors.ts";
import { setUpClient } from "../../support/idp_connection.ts";
import {
  apiError,
  issueToken,
  oauthError,
  tokenPath,
  type Reply,
  type SeenRequest,
} from "../../support/scripted_idp.ts";

test("the assertion is signed with the algorithm of its key and carries its kid", async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-521" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const { idp, login } = await setUpClient({ config: { key: parsePrivateKey(pem, "kid-7") } });
  await login.current();
  expect(decodeProtectedHeader(idp.seen(tokenPath)[0]?.form.get("client_assertion") ?? "")).toEqual({
    alg: "ES512",
    typ: "JWT",
    kid: "kid-7",
  });
});

test("a provider that always asks for a new nonce is dpop_refused", async () => {
  let turns = 0;
  const { idp, login } = await setUpClient({
    token: () => ({ ...oauthError(400, "use_dpop_nonce", "More"), headers: { "dpop-nonce": `n${++turns}` } }),
  });
  await expect(login.current()).rejects.toMatchObject({ code: "dpop_refused" });
  expect(idp.seen(tokenPath).length).toBeLessThanOrEqual(5);
});

test("retries once without a proof when the provider takes none", async () => {
  const token = (request: SeenRequest): Reply =>
    request.headers["dpop"] === undefined ? issueToken(request) : oauthError(400, "invalid_dpop_proof", "Not wanted");
  const { idp, login, clock } = await setUpClient({ token });
  expect((await login.current()).type).toBe("Bearer");
  await clock.sleep(3_600_000, new AbortController().signal);
  await login.current();
  expect(idp.seen(tokenPath).map(({ headers }) => "dpop" in headers)).toEqual([true, false, false]);
});

test("a refused proof is dpop_refused, with the provider's reason", async () => {
  const token = (request: SeenRequest): Reply =>
    oauthError(
      400,
      "invalid_dpop_proof",
      request.headers["dpop"] === undefined ? "The DPoP proof JWT header is missing." : "The alg is not allowed.",
    );
  const { login } = await setUpClient({ token });
  await expect(login.current()).rejects.toMatchObject({
    code: "dpop_refused",
    message: expect.stringContaining("The alg is not allowed") as string,
  });
});

const hourMs = 3_600_000;

/** Answer of the provider to an assertion, by its own clock. */
async function judge(request: SeenRequest, providerMs: number): Promise<Reply> {
  const { iat = 0, exp = 0 } = decodeJwt(request.form.get("client_assertion") ?? "");
  const now = providerMs / 1000;
  if (exp < now) return oauthError(401, "invalid_client", "The client_assertion token is expired.");
  if (exp > now + 3600)
    return oauthError(401, "invalid_client", "The client_assertion token has an expiration too far into the future.");
  if (iat > now)
    return oauthError(401, "invalid_client", "The client_assertion token was issued before the current time.");
  return issueToken(request);
}

test.each([
  ["20 s fast", 20_000, 1],
  ["4 min slow", -240_000, 1],
  ["a minute fast", 60_000, 2],
  ["ten years fast", 10 * 8766 * hourMs, 2],
])("logs in with a clock that is %s", async (_, aheadMs, requests) => {
  const { idp, login } = await setUpClient({ aheadMs, token: judge });
  await login.current();
  expect(idp.seen(tokenPath)).toHaveLength(requests);
});

test("a corrected clock is used for proofs and for later logins", async () => {
  const { idp, client, login, clock } = await setUpClient({ aheadMs: hourMs, token: judge });
  idp.on("GET", "/api/v1/apps", { body: [] });
  await login.current();
  await client.getList({ path: "/api/v1/apps", scope: "apps.read" });
  const { dpop = "" } = idp.seen("/api/v1/apps")[0]?.headers ?? {};
  expect(Math.abs((decodeJwt(dpop).iat ?? 0) - (clock.nowMs() - hourMs) / 1000)).toBeLessThan(2);
  await clock.sleep(hourMs, new AbortController().signal);
  await login.current();
  expect(idp.seen(tokenPath)).toHaveLength(3);
});

test("a clock that stays wrong after the correction is clock_skew", async () => {
  const { idp, login } = await setUpClient({
    token: () => oauthError(401, "invalid_client", "The client_assertion token is expired."),
  });
  await expect(login.current()).rejects.toMatchObject({ code: "clock_skew" });
  expect(idp.seen(tokenPath)).toHaveLength(2);
});

test("renews a token before it expires, with one request for all callers", async () => {
  const { idp, login, clock } = await setUpClient({ token: (request) => issueToken(request, { expires_in: 600 }) });
  await Promise.all([login.current(), login.current(), login.current()]);
  expect(idp.seen(tokenPath)).toHaveLength(1);
  clock.advance(539_000);
  await login.current();
  expect(idp.seen(tokenPath)).toHaveLength(1);
  clock.advance(2000);
  await Promise.all([login.current(), login.current()]);
  expect(idp.seen(tokenPath)).toHaveLength(2);
});

const refuseBut =
  (...granted: string[]) =>
  (request: SeenRequest): Reply => {
    const asked = (request.form.get("scope") ?? "").split(" ");
    return asked.every((scope) => granted.includes(scope))
      ? issueToken(request)
      : oauthError(400, "invalid_scope", "One or more scopes are not configured.");
  };

test("finds the granted scopes after invalid_scope, with at most one request each", async () => {
  const { idp, login, clock } = await setUpClient({ token: refuseBut("okta.policies.read", "okta.brands.read") });
  await login.current();
  expect(login.granted).toEqual(["okta.policies.read", "okta.brands.read"]);
  expect(idp.seen(tokenPath)).toHaveLength(5);
  await clock.sleep(hourMs, new AbortController().signal);
  await login.current();
  expect(idp.seen(tokenPath)).toHaveLength(6);
});

test("no granted scope is no_scope, with the scopes to grant", async () => {
  const { idp, login } = await setUpClient({ token: refuseBut() });
  await expect(login.current()).rejects.toMatchObject({
    code: "no_scope",
    remedy: expect.stringContaining("okta.policies.read, okta.apps.read, okta.brands.read") as string,
  });
  expect(idp.seen(tokenPath)).toHaveLength(4);
});

const html: Reply = { status: 200, body: "<!doctype html><title>Welcome</title>" };

const refused = (description: string) => oauthError(401, "invalid_client", description);
const audience = "The audience claim for client_assertion must be the endpoint invoked for the request.";
const elsewhere = { status: 302, headers: { location: "https://login.example/oauth?x=secret-in-url" } };
const outOfRequests = { ...apiError(429, "E0000047"), headers: { "retry-after": "999" } };
const denied = oauthError(403, "access_denied", "Access from this network is denied.");

test.each<[string, Reply, string, string]>([
  ["an invalid signature", refused("The client_assertion signature is invalid."), "bad_key", "Public Keys"],
  ["an invalid kid", refused("The client_assertion JWT kid is invalid."), "bad_key", "not an active key"],
  ["an unknown client", refused("Invalid value for 'client_id' parameter."), "wrong_client", "client id"],
  ["a wrong audience", refused(audience), "wrong_org", "organization's"],
  ["a network zone", denied, "access_denied", "Security → Networks"],
  ["a web page", html, "wrong_org", "organization's"],
  ["a redirect", elsewhere, "wrong_org", "organization's"],
  ["500", { status: 500, body: "<html>oops</html>" }, "provider_error", "status page"],
  ["429", outOfRequests, "provider_error", "rate limit"],
  ["a token that is none", { body: { token_type: "Bearer" } }, "provider_error", "organization's"],
  ["a token of another type", { body: { token_type: [], access_token: {} } }, "provider_error", "organization's"],
  [
    "an error of another type",
    { status: 400, body: { error: {}, error_description: [] } },
    "provider_error",
    "not as expected",
  ],
  [
    "a token that would break a header",
    { body: { token_type: "Bearer", access_token: "a\r\nx: y" } },
    "provider_error",
    "organization's",
  ],
])("a login that ends with %s has its own code and remedy", async (_, reply, code, remedy) => {
  const { login } = await setUpClient({ token: () => reply });
  const error = await rejectionOf(IdpError, login.current());
  expect(error.code).toBe(code);
  expect(error.remedy).toContain(remedy);
  expect(error.message).not.toMatch(/secret-in-url|[\r\n]/);
});

test("redacts an assertion that the provider echoes", async () => {
  const { login } = await setUpClient({
    token: (request) => oauthError(401, "invalid_client", `Cannot parse ${request.form.get("client_assertion") ?? ""}`),
  });
  const error = await rejectionOf(IdpError, login.current());
  expect(error.message).toContain("Cannot parse [redacted]");
  expect(error.message).not.toContain("eyJ");
});
