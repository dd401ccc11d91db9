import { exportJWK, generateKeyPair, importJWK, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { createProofKey, createRawClient } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { AssertionParts, OauthAnswer, ProofParts, RawClient, TokenParts } from "./raw_client.ts";

const startMs = Date.UTC(2026, 5, 1, 12, 0, 0);
const now = startMs / 1000;
let nowMs = startMs;
let org: PracticeOrg;
let client: RawClient;

beforeAll(async () => {
  org = await startOrg({ clock: () => nowMs, rateLimit: { buckets: { token: 10_000 } } });
  client = await createRawClient(org, () => nowMs);
});

/** With a right nonce, so that only the assertion can be what is wrong. */
async function withAssertion(assertion: AssertionParts | string | null): Promise<OauthAnswer> {
  const nonce = await client.obtainNonce();
  return client.requestToken({ assertion, proof: { claims: { nonce } } });
}

describe("client assertion", () => {
  const audience = "The audience claim for client_assertion must be the endpoint invoked for the request.";
  const tooFar = "The client_assertion token has an expiration too far into the future.";
  const refusals: readonly (readonly [string, AssertionParts, string])[] = [
    ["audience is the org", { claims: { aud: "http://127.0.0.1" } }, audience],
    ["audience is missing", { without: ["aud"] }, audience],
    ["audience has a slash more", { claims: { aud: "TOKEN_URL/" } }, audience],
    ["expired this second", { claims: { exp: now } }, "The client_assertion token is expired."],
    ["expires in more than an hour", { claims: { exp: now + 3601 } }, tooFar],
    ["no expiry", { without: ["exp"] }, "The client_assertion token must have an expiration."],
    [
      "issued a second from now",
      { claims: { iat: now + 1 } },
      "The client_assertion token was issued before the current time.",
    ],
    [
      "another client",
      { claims: { iss: "0oaSomebodyElse", sub: "0oaSomebodyElse" } },
      "Invalid value for 'client_id' parameter.",
    ],
    [
      "issuer is not the subject",
      { claims: { sub: "0oaSomebodyElse" } },
      "The issuer and subject of the client_assertion must both be the client_id.",
    ],
    ["unknown kid", { header: { kid: "nobody" } }, "The client_assertion JWT kid is invalid."],
  ];
  test.each(refusals)("is refused: %s", async (_, parts, description) => {
    const aud = parts.claims?.["aud"];
    const claims =
      typeof aud === "string" ? { ...parts.claims, aud: aud.replace("TOKEN_URL", client.tokenUrl) } : parts.claims;
    const answer = await withAssertion(claims === undefined ? parts : { ...parts, claims });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error: "invalid_client", error_description: description });
  });

  const acceptances: readonly (readonly [string, AssertionParts])[] = [
    ["expires in exactly an hour", { claims: { exp: now + 3600 } }],
    ["expires in a second", { claims: { exp: now + 1 } }],
    ["issued this second", { claims: { iat: now } }],
    ["without iat and jti", { without: ["iat", "jti"] }],
    ["signed RS512", { header: { alg: "RS512" } }],
  ];
  test.each(acceptances)("is accepted: %s", async (_, parts) => {
    expect((await withAssertion(parts)).status).toBe(200);
  });

  test("is refused when another key signed it", async () => {
    const { privateKey } = await generateKeyPair("RS256");
    const answer = await withAssertion({ key: privateKey });
    expect(answer.status).toBe(401);
    expect(answer.body.error_description).toBe("The client_assertion signature is invalid.");
  });

  test("is refused without a signature", async () => {
    const unsecured = new UnsecuredJWT({ iss: org.clientId, sub: org.clientId, aud: client.tokenUrl, exp: now + 300 });
    const answer = await withAssertion(unsecured.encode());
    expect(answer.status).toBe(401);
    expect(answer.body.error).toBe("invalid_client");
  });

  test("with a jti is for one use, without one for many", async () => {
    const once = await client.assertion();
    const often = await client.assertion({ without: ["jti"] });
    expect((await withAssertion(once)).status).toBe(200);
    expect((await withAssertion(often)).status).toBe(200);
    const again = await withAssertion(once);
    expect(again.status).toBe(401);
    expect(again.body.error_description).toBe("The client_assertion token has already been used.");
    expect((await withAssertion(often)).status).toBe(200);
  });

  test("is spent by the nonce dance: the retry needs a new one", async () => {
    const assertion = await client.assertion();
    const first = await client.requestToken({ assertion });
    expect(first.body.error).toBe("use_dpop_nonce");
    const nonce = first.headers.get("dpop-nonce");
    const second = await client.requestToken({ assertion, proof: { claims: { nonce } } });
    expect(second.body.error_description).toBe("The client_assertion token has already been used.");
  });

  test.each([
    ["missing", null],
    ["no JWT", "not.a.jwt"],
  ])("is refused: %s", async (_, assertion) => {
    const answer = await withAssertion(assertion);
    expect(answer.status).toBe(401);
    expect(answer.body.error).toBe("invalid_client");
  });

  test("of a client with two keys needs a kid, and takes either", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES384", { extractable: true });
    const second = { ...(await exportJWK(publicKey)), kid: "second" };
    const twoKeys = await startOrg({ publicKeys: [second], dpop: "off" });
    const raw = await createRawClient(twoKeys);
    const kid = twoKeys.privateKeyJwk.kid ?? "";
    const ask = (assertion: AssertionParts) => raw.requestToken({ assertion, proof: null });
    expect((await ask({})).body.error_description).toBe("The client_assertion JWT kid is invalid.");
    expect((await ask({ header: { kid } })).status).toBe(200);
    expect((await ask({ header: { alg: "ES384", kid: "second" }, key: privateKey })).status).toBe(200);
    const crossed = await ask({ header: { kid: "second" } });
    expect(crossed.body.error_description).toBe("The client_assertion signature is invalid.");
  });
});

describe("token request", () => {
  const refusals: readonly (readonly [string, TokenParts, number, string])[] = [
    ["another grant", { form: { grant_type: "password" } }, 400, "unsupported_grant_type"],
    ["another assertion type", { form: { client_assertion_type: "urn:x" } }, 401, "invalid_client"],
    ["no scope", { scope: null }, 400, "invalid_scope"],
    ["a scope that is not granted", { scope: "okta.apps.read okta.apps.manage" }, 400, "invalid_scope"],
    ["a scope with another prefix", { scope: "idp.apps.read" }, 400, "invalid_scope"],
  ];
  test.each(refusals)("with %s is refused", async (_, parts, status, error) => {
    const nonce = await client.obtainNonce();
    const answer = await client.requestToken({ ...parts, proof: { claims: { nonce } } });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toBe(error);
    expect(answer.body.error_description).toEqual(expect.any(String));
  });

  test("that is JSON is refused", async () => {
    const response = await fetch(client.tokenUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ grant_type: "client_credentials" }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: "invalid_request" });
  });

  test("by GET is refused", async () => {
    const response = await fetch(client.tokenUrl);
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ errorCode: "E0000022" });
  });

  test("is answered with a DPoP token, an hour long, that names its scopes", async () => {
    const nonce = await client.obtainNonce();
    const answer = await client.requestToken({
      scope: "okta.apps.read okta.policies.read",
      proof: { claims: { nonce } },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("dpop-nonce")).toBe(nonce);
    expect(answer.body).toEqual({
      token_type: "DPoP",
      expires_in: 3600,
      access_token: expect.any(String),
      scope: "okta.apps.read okta.policies.read",
    });
    const [head = "", body = ""] = answer.body.access_token?.split(".") ?? [];
    const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as unknown;
    expect(decode(head)).toMatchObject({ typ: "application/okta-internal-at+jwt", alg: "RS256" });
    expect(decode(body)).toMatchObject({
      ver: 1,
      iss: org.url,
      aud: org.url,
      sub: org.clientId,
      cid: org.clientId,
      iat: now,
      exp: now + 3600,
      scp: ["okta.apps.read", "okta.policies.read"],
    });
  });

  test("for more than is granted is narrowed without a word where the org is set to that", async () => {
    const lenient = await startOrg({ onUngrantedScope: "drop", grantedScopes: ["apps.read"], dpop: "off" });
    const raw = await createRawClient(lenient);
    const narrowed = await raw.requestToken({ scope: "okta.apps.read okta.policies.read", proof: null });
    expect(narrowed.body).toMatchObject({ scope: "okta.apps.read", token_type: "Bearer" });
    const nothing = await raw.requestToken({ scope: "okta.policies.read", proof: null });
    expect(nothing.body.error).toBe("invalid_scope");
  });

  test("of an org with the neutral prefix takes its scopes and hides the provider's document", async () => {
    const neutral = await startOrg({ scopePrefix: "idp", dpop: "off" });
    const raw = await createRawClient(neutral);
    expect((await raw.requestToken({ scope: "idp.apps.read", proof: null })).status).toBe(200);
    expect((await raw.requestToken({ scope: "okta.apps.read", proof: null })).status).toBe(400);
    expect((await fetch(`${neutral.url}/.well-known/okta-organization`)).status).toBe(404);
    expect((await fetch(`${org.url}/.well-known/okta-organization`)).status).toBe(200);
  });
});

describe("DPoP proof of a token request", () => {
  test("is demanded", async () => {
    const answer = await client.requestToken({ proof: null });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: "invalid_dpop_proof",
      error_description: "The DPoP proof JWT header is missing.",
    });
  });

  test("without the nonce is answered with one", async () => {
    const answer = await client.requestToken();
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: "use_dpop_nonce",
      error_description: "Authorization server requires nonce in DPoP proof.",
    });
    expect(answer.headers.get("dpop-nonce")).toMatch(/^[\w-]{32}$/);
  });

  const refusals: readonly (readonly [string, ProofParts])[] = [
    ["another method", { claims: { htm: "GET" } }],
    ["another address", { claims: { htu: "http://127.0.0.1/oauth2/v1/token" } }],
    ["no address", { without: ["htu"] }],
    ["no jti", { without: ["jti"] }],
    ["no iat", { without: ["iat"] }],
    ["older than five minutes", { claims: { iat: now - 301 } }],
    ["more than five minutes from now", { claims: { iat: now + 301 } }],
    ["another type of JWT", { header: { typ: "JWT" } }],
    ["no key", { header: { jwk: undefined } }],
  ];
  test.each(refusals)("is refused: %s", async (_, proof) => {
    const nonce = await client.obtainNonce();
    const answer = await client.requestToken({ proof: { ...proof, claims: { nonce, ...proof.claims } } });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe("invalid_dpop_proof");
  });

  test.each([now - 300, now + 300])("is accepted at the ends of its five minutes (%d)", async (iat) => {
    const nonce = await client.obtainNonce();
    expect((await client.requestToken({ proof: { claims: { nonce, iat } } })).status).toBe(200);
  });

  test("is refused when its private key is shown", async () => {
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const shown = await exportJWK(privateKey);
    const nonce = await client.obtainNonce();
    const answer = await client.requestToken({
      proof: { claims: { nonce }, key: { privateKey, publicJwk: shown } },
    });
    expect(answer.body.error).toBe("invalid_dpop_proof");
  });

  test("is refused when another key signed it", async () => {
    const [own, other] = await Promise.all([createProofKey(), createProofKey()]);
    const nonce = await client.obtainNonce();
    const answer = await client.requestToken({
      proof: { claims: { nonce }, key: { privateKey: own.privateKey, publicJwk: other.publicJwk } },
    });
    expect(answer.body.error).toBe("invalid_dpop_proof");
  });

  test("is for one use", async () => {
    const nonce = await client.obtainNonce();
    const proof = await client.proof("POST", client.tokenUrl, { claims: { nonce } });
    expect((await client.requestToken({ proof })).status).toBe(200);
    const again = await client.requestToken({ proof });
    expect(again.body.error).toBe("invalid_dpop_proof");
  });

  test("takes a nonce for three days after its own, and no invented one", async () => {
    const nonce = await client.obtainNonce();
    const ask = async (text: string) => (await client.requestToken({ proof: { claims: { nonce: text } } })).body.error;
    expect(await ask("made-up")).toBe("use_dpop_nonce");
    const dayMs = 86_400_000;
    try {
      nowMs = startMs + 3 * dayMs;
      expect(await client.obtainNonce()).not.toBe(nonce);
      expect(await ask(nonce)).toBeUndefined();
      nowMs = startMs + 4 * dayMs;
      expect(await ask(nonce)).toBe("use_dpop_nonce");
    } finally {
      nowMs = startMs;
    }
  });

  test("is not looked at where the org does not require it", async () => {
    const relaxed = await startOrg({ dpop: "off" });
    const raw = await createRawClient(relaxed);
    for (const proof of [null, "nonsense"]) {
      expect((await raw.requestToken({ proof })).body.token_type).toBe("Bearer");
    }
  });
});

test("The client's key is shown as PEM and as JWK of the same key", async () => {
  const fromJwk = await importJWK(org.privateKeyJwk, "RS256");
  expect(fromJwk).toBeDefined();
  expect(org.privateKeyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(org.privateKeyJwk).toMatchObject({ kty: "RSA", kid: expect.stringMatching(/^[\w-]{43}$/) });
});
