import type { Mutation } from "./mutation.ts";

const stolenCode = "a code that is stolen on its way";
const foreignAnswer = "an answer of somebody else's sign-in, or of another issuer, is slipped in";
const storedToken =
  "a token that a script, another tab or the next person finds in storage, in an address or in a cookie";
const framed = "a page that frames ours, or the callback, to steal a click or the answer";
const exfiltration = "a page that sends what it knows elsewhere";
const discovery = "a discovery document that sends people, or codes, elsewhere";
const wrongTenant = "a person of several tenants acts in the wrong one";
const otherPerson = "a session that is renewed into somebody else's";
const loginPage = "the practice org's login page, used from elsewhere";
const copiedToken = "a refresh token that was copied";

const providerTest = "test/practice_org/openid_provider.test.ts";
const pageTest = "test/web/issuer_sign_in.test.ts";

/** The table "Signing in" of `docs/threat_model.md`. */
export const signingIn: readonly Mutation[] = [
  {
    mistake: "a code may be redeemed twice",
    holds: [stolenCode],
    file: "practice_org/sign_in/grants.ts",
    find: "const isGood = !found.isUsed && nowMs < found.expiresAtMs;",
    replace: "const isGood = nowMs < found.expiresAtMs;",
    testFile: providerTest,
    test: "a code is for one use",
  },
  {
    mistake: "the verifier of PKCE is not compared",
    holds: [stolenCode],
    file: "practice_org/sign_in/openid_provider.ts",
    find: "return wanted.length === computed.length && timingSafeEqual(computed, wanted);",
    replace: "return wanted.length === computed.length || timingSafeEqual(computed, wanted);",
    testFile: providerTest,
    test: "a code is refused with %s",
  },
  {
    mistake: "what a sign-in was begun with stays in storage",
    holds: [stolenCode, storedToken],
    file: "gateway/web/model/sign_in/pending.ts",
    find: "  sessionStorage.removeItem(key);\n",
    replace: "",
    testFile: pageTest,
    test: "signs in with code and PKCE",
  },
  {
    mistake: "the state of an answer is not compared",
    holds: [foreignAnswer],
    file: "gateway/web/model/sign_in/authorization.ts",
    find: "oauth.validateAuthResponse(server, client, query, state)",
    replace: "oauth.validateAuthResponse(server, client, query, state === null ? state : oauth.skipStateCheck)",
    testFile: pageTest,
    test: "an answer of another sign-in is refused",
  },
  {
    mistake: "the callback may be framed by everybody",
    holds: [framed, exfiltration],
    file: "gateway/http/page_headers.ts",
    find: `\`frame-ancestors \${isCallback ? "'self'" : "'none'"}\``,
    replace: `\`frame-ancestors \${isCallback ? "*" : "'none'"}\``,
    testFile: pageTest,
    test: "no other page may frame the page",
  },
  {
    mistake: "without an issuer the page may send anywhere",
    holds: [exfiltration],
    file: "gateway/http/page_headers.ts",
    find: 'issuer === null ? "" : ` ${originOf(issuer.token_endpoint)}`',
    replace: 'issuer === null ? " https:" : ` ${originOf(issuer.token_endpoint)}`',
    testFile: "test/gateway/http/sign_in_routes.test.ts",
    test: "without a client there is no provider",
  },
  {
    mistake: "a discovery document may be another issuer's",
    holds: [discovery],
    file: "gateway/auth/sign_in.ts",
    find: 'document["issuer"] !== issuer',
    replace: 'document["issuer"] === undefined',
    testFile: "test/gateway/auth/sign_in.test.ts",
    test: "nobody is sent to an issuer",
  },
  {
    mistake: "of several tenants the first is taken where none is named",
    holds: [wrongTenant],
    file: "gateway/auth/identity.ts",
    find: "if (named === null && others.length > 0) {",
    replace: "if (named === null && others.length > 99) {",
    testFile: "test/gateway/auth/identity.test.ts",
    test: "a token for several tenants names one",
  },
  {
    mistake: "any tenant may be named",
    holds: [wrongTenant],
    file: "gateway/auth/identity.ts",
    find: "if (named !== null && !tenantIds.includes(named)) {",
    replace: "if (named !== null && tenantIds.length === 0) {",
    testFile: "test/gateway/auth/identity.test.ts",
    test: "a tenant that is not the credential's",
  },
  {
    mistake: "a renewal may bring another person",
    holds: [otherPerson],
    file: "gateway/web/model/sign_in/tokens.ts",
    find: "(known !== null && subject !== known.subject)",
    replace: "(known !== null && subject === undefined)",
    testFile: "test/web/session_renewal.test.ts",
    test: "a session is never renewed into another person's",
  },
  {
    mistake: "a redirect address may be longer than the registered one",
    holds: [loginPage],
    file: "practice_org/sign_in/authorize_endpoint.ts",
    find: "!client.redirectUris.includes(redirectUri)",
    replace: "!client.redirectUris.some((uri) => redirectUri.startsWith(uri))",
    testFile: providerTest,
    test: "%s is an error page",
  },
  {
    mistake: "a login form may come from any browser",
    holds: [loginPage],
    file: "practice_org/sign_in/authorize_endpoint.ts",
    find: " || waiting.browser !== cookieOf(request, browserCookie)",
    replace: "",
    testFile: providerTest,
    test: "the login form is for the browser",
  },
  {
    mistake: "an old refresh token is refused, and the newest one stays good",
    holds: [copiedToken],
    file: "practice_org/sign_in/grants.ts",
    find: "        dropFamily(key);\n        return null;",
    replace: "        return null;",
    testFile: providerTest,
    test: "an old refresh token",
  },
];
