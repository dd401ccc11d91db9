import { createHash, randomBytes } from "node:crypto";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import * as oauth from "oauth4webapi";
import { expect, test } from "vitest";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { startOrg } from "./start_org.ts";

const redirectUri = "http://127.0.0.1:9999/callback";
const afterwards = "http://127.0.0.1:9999/";
const audience = "scanstream";
const tenants = ["0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11", "7c9e6679-7425-40de-944b-e07fc1f90ae7"];
const ann = { login: "ann@practice.example", name: "Ann", password: "secret", tenantIds: tenants };
const olga = { login: "olga@practice.example", name: "Olga", password: "other", tenantIds: tenants.slice(0, 1) };
const client: oauth.Client = { client_id: "page" };

let nowMs = Date.now();
const org = await openOrg();
const { issuer } = org;

async function openOrg(): Promise<PracticeOrg> {
  const opened = await startOrg({ clock: () => nowMs });
  await opened.offerSignIn({
    people: [ann, olga],
    client: { clientId: "page", redirectUris: [redirectUri], postLogoutRedirectUris: [afterwards] },
    audience,
    tenantClaim: "tenant_id",
    tokenLifetimeSeconds: 60,
  });
  return opened;
}

/** A browser: it keeps cookies, and follows nothing by itself. */
function openBrowser() {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async request(url: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      headers.set("cookie", [...cookies].map((pair) => pair.join("=")).join("; "));
      const response = await fetch(url, { ...init, redirect: "manual", headers });
      for (const line of response.headers.getSetCookie()) {
        const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=", 2);
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    },
  };
}
type Browser = ReturnType<typeof openBrowser>;

const verifier = randomBytes(32).toString("base64url");
const challenge = createHash("sha256").update(verifier).digest("base64url");

function authorizeUrl(changed: Readonly<Record<string, string | null>> = {}): string {
  const parameters = {
    client_id: "page",
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid profile email offline_access",
    state: "state-1",
    nonce: "nonce-1",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...changed,
  };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${issuer}/v1/authorize?${new URLSearchParams(given)}`;
}

const transactionOf = (html: string) => /name="transaction" value="([\w-]+)"/.exec(html)?.[1] ?? "";

function post(form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: "POST",
    body: new URLSearchParams(form).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  };
}

async function logIn(browser: Browser, url = authorizeUrl(), person = ann): Promise<URL> {
  const shown = await browser.request(url);
  const transaction = transactionOf(await shown.text());
  const { login, password } = person;
  const sent = await browser.request(`${issuer}/v1/login`, post({ transaction, choice: "sign-in", login, password }));
  expect(sent.status).toBe(302);
  return new URL(sent.headers.get("location") ?? "");
}

async function getToken(form: Readonly<Record<string, string>>) {
  const response = await fetch(`${issuer}/v1/token`, post({ client_id: "page", ...form }));
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> };
}

const redeem = (code: string, changed: Readonly<Record<string, string>> = {}) =>
  getToken({ grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier, ...changed });

const refresh = (token: string) => getToken({ grant_type: "refresh_token", refresh_token: token });

async function codeOf(browser = openBrowser()): Promise<string> {
  return (await logIn(browser)).searchParams.get("code") ?? "";
}

test("a client library of others signs a person in, reads who it is, renews and signs out", async () => {
  const options = { [oauth.allowInsecureRequests]: true };
  const server = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), options),
  );
  const browser = openBrowser();
  const back = await logIn(browser);
  const parameters = oauth.validateAuthResponse(server, client, back, "state-1");
  const none = oauth.None();
  const answered = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    none,
    parameters,
    redirectUri,
    verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answered, {
    expectedNonce: "nonce-1",
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, answered, options);
  const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ""));
  const { payload } = await jwtVerify(tokens.access_token, keys, { issuer, audience });
  expect(payload).toMatchObject({ sub: ann.login, tenant_id: tenants, name: "Ann" });
  const info = await oauth.userInfoRequest(server, client, tokens.access_token, options);
  expect(await oauth.processUserInfoResponse(server, client, ann.login, info)).toMatchObject({ email: ann.login });
  const again = await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token ?? "", options);
  expect((await oauth.processRefreshTokenResponse(server, client, again)).refresh_token).not.toBe(tokens.refresh_token);
  const query = new URLSearchParams({
    id_token_hint: tokens.id_token ?? "",
    post_logout_redirect_uri: afterwards,
    state: "bye",
  });
  const out = await browser.request(`${server.end_session_endpoint}?${query}`);
  expect(out.headers.get("location")).toBe(`${afterwards}?state=bye`);
  expect((await browser.request(authorizeUrl({ prompt: "none" }))).headers.get("location")).toContain("login_required");
});

test("one tenant is a text in the claim, several are a list", async () => {
  const code = (await logIn(openBrowser(), authorizeUrl(), olga)).searchParams.get("code") ?? "";
  expect(decodeJwt((await redeem(code)).body["access_token"] ?? "")["tenant_id"]).toBe(tenants[0]);
});

test.each([
  ["an unknown client", { client_id: "other" }],
  ["no redirect address", { redirect_uri: null }],
  ["another path", { redirect_uri: `${redirectUri}/x` }],
  ["a query more", { redirect_uri: `${redirectUri}?x=1` }],
  ["another port", { redirect_uri: "http://127.0.0.1:9998/callback" }],
  ["another host", { redirect_uri: "https://evil.test/callback" }],
  ["a script", { redirect_uri: "javascript:alert(1)" }],
])("%s is an error page, never a redirect", async (_what, changed) => {
  const response = await openBrowser().request(authorizeUrl(changed));
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
});

test.each([
  ["without PKCE", { code_challenge: null }, "invalid_request"],
  ["with the plain method", { code_challenge_method: "plain" }, "invalid_request"],
  ["with PKCE of no method", { code_challenge_method: null }, "invalid_request"],
  ["for a token in the address", { response_type: "token" }, "unsupported_response_type"],
  ["in a fragment", { response_mode: "fragment" }, "invalid_request"],
  ["without openid", { scope: "profile" }, "invalid_scope"],
  ["without state", { state: null }, "invalid_request"],
  ["with another prompt", { prompt: "consent" }, "invalid_request"],
  ["without any prompt, of a stranger", { prompt: "none" }, "login_required"],
])("a request %s comes back as an error of the issuer", async (_what, changed, error) => {
  const response = await openBrowser().request(authorizeUrl(changed));
  const { origin, pathname, searchParams } = new URL(response.headers.get("location") ?? "");
  expect(`${origin}${pathname}`).toBe(redirectUri);
  expect(searchParams.get("error")).toBe(error);
  expect(searchParams.get("iss")).toBe(issuer);
  expect(searchParams.get("code")).toBeNull();
});

test("a parameter that comes twice is refused", async () => {
  const response = await openBrowser().request(`${authorizeUrl()}&state=state-2`);
  expect(new URL(response.headers.get("location") ?? "").searchParams.get("error")).toBe("invalid_request");
});

test("a code is for one use, and its second use ends what the first one gave", async () => {
  const code = await codeOf();
  const first = await redeem(code);
  expect(first.status).toBe(200);
  expect(await redeem(code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect(await refresh(first.body["refresh_token"] ?? "")).toMatchObject({ body: { error: "invalid_grant" } });
});

test.each([
  ["another verifier", { code_verifier: randomBytes(32).toString("base64url") }],
  ["the challenge in place of the verifier", { code_verifier: challenge }],
  ["no verifier", { code_verifier: "" }],
  ["another redirect address", { redirect_uri: afterwards }],
])("a code is refused with %s, and is used up", async (_what, changed) => {
  const code = await codeOf();
  expect(await redeem(code, changed)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect(await redeem(code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
});

test("a code is refused after a minute", async () => {
  const [good, late] = [await codeOf(), await codeOf()];
  nowMs += 59_000;
  expect((await redeem(good)).status).toBe(200);
  nowMs += 1000;
  expect(await redeem(late)).toMatchObject({ body: { error: "invalid_grant" } });
});

test("an old refresh token ends all that came from its sign-in", async () => {
  const first = (await redeem(await codeOf())).body["refresh_token"] ?? "";
  const second = (await refresh(first)).body["refresh_token"] ?? "";
  const third = (await refresh(second)).body["refresh_token"] ?? "";
  expect(await refresh(second)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect(await refresh(third)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
});

test("a refresh token is given to those only who ask for offline access", async () => {
  const back = await logIn(openBrowser(), authorizeUrl({ scope: "openid" }));
  const { body } = await redeem(back.searchParams.get("code") ?? "");
  expect(body["refresh_token"]).toBeUndefined();
  expect(body["scope"]).toBe("openid");
});

test("the login form is for the browser that it was shown to, for its own page, and for one use", async () => {
  const browser = openBrowser();
  const transaction = transactionOf(await (await browser.request(authorizeUrl())).text());
  const form = { transaction, choice: "sign-in", login: ann.login, password: ann.password };
  expect((await openBrowser().request(`${issuer}/v1/login`, post(form))).status).toBe(400);
  const foreign = post(form, { origin: "https://evil.test" });
  expect((await browser.request(`${issuer}/v1/login`, foreign)).status).toBe(403);
  const wrong = await browser.request(`${issuer}/v1/login`, post({ ...form, password: "guess" }));
  expect([wrong.status, wrong.headers.get("location")]).toEqual([200, null]);
  expect(await wrong.text()).toContain("Email and password do not belong together.");
  expect((await browser.request(`${issuer}/v1/login`, post(form))).status).toBe(302);
  expect((await browser.request(`${issuer}/v1/login`, post(form))).status).toBe(400);
});

test("what was typed is text on the page", async () => {
  const browser = openBrowser();
  const transaction = transactionOf(await (await browser.request(authorizeUrl())).text());
  const login = `"><script>alert(1)</script>`;
  const shown = await browser.request(
    `${issuer}/v1/login`,
    post({ transaction, choice: "sign-in", login, password: "x" }),
  );
  expect(await shown.text()).not.toContain("<script");
  expect(shown.headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
});

test("a session that was planted before signing in is none afterwards", async () => {
  const browser = openBrowser();
  browser.cookies.set("practice_session", "planted");
  await logIn(browser);
  expect(browser.cookies.get("practice_session")).not.toBe("planted");
  const attacker = openBrowser();
  attacker.cookies.set("practice_session", "planted");
  const response = await attacker.request(authorizeUrl({ prompt: "none" }));
  expect(response.headers.get("location")).toContain("login_required");
});

test.each([
  ["without a hint", {}],
  ["with a token that is none of ours", { id_token_hint: "eyJhbGciOiJub25lIn0.eyJhdWQiOiJwYWdlIn0.x" }],
])("signing out %s is refused, and goes nowhere", async (_what, parameters) => {
  const query = new URLSearchParams({ ...parameters, post_logout_redirect_uri: afterwards });
  const response = await openBrowser().request(`${issuer}/v1/logout?${query}`);
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
});

test("signing out leads to registered addresses only, and ends refresh tokens", async () => {
  const { body } = await redeem(await codeOf());
  const hint = { id_token_hint: body["id_token"] ?? "" };
  const query = new URLSearchParams({ ...hint, post_logout_redirect_uri: "https://evil.test/" });
  const response = await openBrowser().request(`${issuer}/v1/logout?${query}`);
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  expect(await refresh(body["refresh_token"] ?? "")).toMatchObject({ body: { error: "invalid_grant" } });
});

test("only pages of the application read answers, and only this machine asks", async () => {
  const allowed = (origin: string) =>
    fetch(`${issuer}/v1/keys`, { headers: { origin } }).then(({ headers }) =>
      headers.get("access-control-allow-origin"),
    );
  expect(await allowed("http://127.0.0.1:9999")).toBe("http://127.0.0.1:9999");
  expect(await allowed("https://evil.test")).toBeNull();
  // `fetch` sets the host by itself.
  const { get } = await import("node:http");
  const status = await new Promise((resolve) => {
    get(`${issuer}/v1/keys`, { headers: { host: "rebound.test" } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  expect(status).toBe(403);
});

test("an id token opens nothing, and an access token is read until it ends", async () => {
  const { body } = await redeem(await codeOf());
  const status = async (token = "") =>
    (await fetch(`${issuer}/v1/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status(body["id_token"])).toBe(401);
  expect(await status(body["access_token"])).toBe(200);
  nowMs += 61_000;
  expect(await status(body["access_token"])).toBe(401);
});
