import { generateKeyPair } from "jose";
import { expect, test } from "vitest";
import { createRawClient, signedIn, type ProofParts, type TokenParts } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

const now = Math.floor(Date.now() / 1000);
const other = await generateKeyPair("RS256");
const org = await startOrg();
const client = await createRawClient(org);

test.each<[what: string, parts: TokenParts, status: number, error: string, description: RegExp]>([
  ["audience", { assertion: { claims: { aud: "http://127.0.0.1" } } }, 401, "invalid_client", /^The audience claim/],
  ["expired", { assertion: { claims: { exp: now - 60 } } }, 401, "invalid_client", /is expired\.$/],
  ["issuer", { assertion: { claims: { sub: "0oaElse" } } }, 401, "invalid_client", /must both be the client_id\.$/],
  ["unknown kid", { assertion: { header: { kid: "nobody" } } }, 401, "invalid_client", /kid is invalid\.$/],
  ["another key", { assertion: { key: other.privateKey } }, 401, "invalid_client", /signature is invalid\.$/],
  ["ungranted scope", { scope: "okta.apps.read okta.apps.manage" }, 400, "invalid_scope", /not configured/],
  ["no proof", { proof: null }, 400, "invalid_dpop_proof", /header is missing\.$/],
  ["no nonce", { proof: { without: ["nonce"] } }, 400, "use_dpop_nonce", /requires nonce/],
  ["made-up nonce", { proof: { claims: { nonce: "made-up" } } }, 400, "use_dpop_nonce", /requires nonce/],
  ["proof method", { proof: { claims: { htm: "GET" } } }, 400, "invalid_dpop_proof", /'htm'/],
  ["proof address", { proof: { claims: { htu: "http://127.0.0.1/" } } }, 400, "invalid_dpop_proof", /'htu'/],
  ["proof without jti", { proof: { without: ["jti"] } }, 400, "invalid_dpop_proof", /'jti'/],
  ["old proof", { proof: { claims: { iat: now - 400 } } }, 400, "invalid_dpop_proof", /is expired\.$/],
])("a token request is refused: %s", async (_, parts, status, error, description) => {
  const nonce = await client.obtainNonce();
  const proof = typeof parts.proof === "object" && parts.proof !== null ? parts.proof : {};
  const bent = { ...proof, claims: { nonce, ...proof.claims } };
  const answer = await client.requestToken({ ...parts, proof: parts.proof === null ? null : bent });
  expect([answer.status, answer.body.error]).toEqual([status, error]);
  expect(answer.body.error_description).toMatch(description);
});

test("an assertion and a proof are for one use", async () => {
  const nonce = await client.obtainNonce();
  const [assertion, proof] = [
    await client.assertion(),
    await client.proof("POST", client.tokenUrl, { claims: { nonce } }),
  ];
  expect((await client.requestToken({ assertion, proof })).status).toBe(200);
  expect((await client.requestToken({ assertion, proof: { claims: { nonce } } })).body.error).toBe("invalid_client");
  expect((await client.requestToken({ proof })).body.error).toBe("invalid_dpop_proof");
});

test.each<[what: string, parts: ProofParts, description: string]>([
  ["method", { claims: { htm: "POST" } }, "'htm' claim in the DPoP proof JWT is invalid."],
  ["address", { claims: { htu: "http://127.0.0.1/api/v1/apps" } }, "'htu' claim in the DPoP proof JWT is invalid."],
  ["token", { claims: { ath: "x" } }, "'ath' claim in the DPoP proof JWT is invalid."],
])("a call is refused whose proof is for another %s", async (_, parts, description) => {
  const session = await signedIn(org);
  const refusal = await session.call(session.token, "/api/v1/zones", parts);
  expect([refusal.status, await refusal.text()]).toEqual([400, ""]);
  expect(refusal.headers.get("www-authenticate")).toContain(`error_description="${description}"`);
});
