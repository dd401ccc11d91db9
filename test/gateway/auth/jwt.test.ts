import { createServer } from "node:http";
import { exportSPKI, generateKeyPair, SignJWT, type CryptoKey } from "jose";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createIssuerVerifier, type JwtVerifier } from "../../../gateway/auth/jwt.ts";
import { createLog } from "../../../gateway/observability/log.ts";
import { listen } from "../../support/listen.ts";
import { audience, createIssuerKey, issuer, type IssuerKey } from "../../support/operator.ts";

const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const nowMs = Date.UTC(2026, 10, 21);
const nowSeconds = nowMs / 1000;
const goodClaims = { iss: issuer, aud: audience, sub: "alice", tenant_id: tenantId, exp: nowSeconds + 60 };

let key: IssuerKey;
let verifier: JwtVerifier;

beforeAll(async () => {
  key = await createIssuerKey();
  verifier = await verifierOf([key]);
});

function verifierOf(issuerKeys: readonly IssuerKey[], tenantClaim?: string): Promise<JwtVerifier> {
  const jwks = { keys: issuerKeys.map(({ publicJwk }) => ({ ...publicJwk })) };
  const options = { jwks, issuer, audience, ...(tenantClaim && { tenantClaim }) };
  return createIssuerVerifier(options, undefined, { nowMs: () => nowMs });
}

function sign(
  claims: Readonly<Record<string, unknown>>,
  options: { readonly header?: object; readonly key?: CryptoKey | Uint8Array } = {},
): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "ES256", kid: key.kid, ...options.header })
    .sign(options.key ?? key.privateKey);
}

test("a valid token gives the user, the tenant and its expiry", async () => {
  await expect(verifier.verify(await sign({ ...goodClaims, name: "Alice" }))).resolves.toEqual({
    kind: "user",
    tenantIds: [tenantId],
    id: "alice",
    name: "Alice",
    scopes: null,
    expiresAtMs: (nowSeconds + 60) * 1000,
    onlyStream: null,
  });
});

// `contract/use_cases.ts` and `http/request_log.test.ts` have those of a careless issuer.
test.each([
  ["no issuer", { ...goodClaims, iss: undefined }],
  ["no audience", { ...goodClaims, aud: undefined }],
  ["an exp that is text", { ...goodClaims, exp: "never" }],
  ["an empty sub", { ...goodClaims, sub: "" }],
  ["a sub with NUL", { ...goodClaims, sub: "a\0b" }],
  ["a sub that is endless", { ...goodClaims, sub: "a".repeat(513) }],
  ["an empty list of tenants", { ...goodClaims, tenant_id: [] }],
  ["a list of tenants with one that is no UUID", { ...goodClaims, tenant_id: [tenantId, "acme"] }],
  ["51 tenants", { ...goodClaims, tenant_id: Array.from({ length: 51 }, () => crypto.randomUUID()) }],
])("refused: %s", async (_what, claims) => {
  await expect(verifier.verify(await sign(claims))).rejects.toMatchObject({ code: "not_authenticated" });
});

test("clocks may differ by less than 5 s, not more", async () => {
  await expect(verifier.verify(await sign({ ...goodClaims, exp: nowSeconds - 4 }))).resolves.toBeDefined();
  await expect(verifier.verify(await sign({ ...goodClaims, nbf: nowSeconds + 4 }))).resolves.toBeDefined();
  for (const late of [{ exp: nowSeconds - 6 }, { nbf: nowSeconds + 6 }]) {
    const refused = verifier.verify(await sign({ ...goodClaims, ...late }));
    await expect(refused).rejects.toMatchObject({ code: "not_authenticated" });
  }
});

test("the tenant's claim has the configured name", async () => {
  const other = await verifierOf([key], "https://x.test/org");
  const token = await sign({ ...goodClaims, tenant_id: undefined, "https://x.test/org": tenantId });
  await expect(other.verify(token)).resolves.toMatchObject({ tenantIds: [tenantId] });
  await expect(other.verify(await sign(goodClaims))).rejects.toMatchObject({ code: "not_authenticated" });
});

test.each(["RS256", "PS384", "ES256", "ES512", "EdDSA", "Ed25519"])("accepts %s", async (alg) => {
  const own = await createIssuerKey(alg);
  const token = await sign(goodClaims, { header: { alg }, key: own.privateKey });
  await expect((await verifierOf([own])).verify(token)).resolves.toMatchObject({ id: "alice" });
});

test("refuses HS256 with the public key as secret, in every form of it", async () => {
  const { publicKey } = await generateKeyPair("RS256", { extractable: true });
  const secrets = [JSON.stringify(key.publicJwk), await exportSPKI(publicKey), String(key.publicJwk.x)];
  for (const secret of secrets) {
    const token = await sign(goodClaims, { header: { alg: "HS256" }, key: new TextEncoder().encode(secret) });
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: "not_authenticated" });
  }
});

test("a key that cannot be imported is named by its variable", async () => {
  const jwks = { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y" }] };
  const verifying = createIssuerVerifier({ jwks, issuer, audience });
  await expect(verifying).rejects.toThrow(/AUTH_JWKS: expected a key that can be imported/);
});

test("a token without key id is tried with each inline key of its kind, and not with one that it brings along", async () => {
  const second = await createIssuerKey("ES256", "second");
  const accepts = await verifierOf([key, second]);
  const outsider = await createIssuerKey();
  const signed = (by: IssuerKey) =>
    sign(goodClaims, { header: { kid: undefined, jwk: by.publicJwk }, key: by.privateKey });
  await expect(accepts.verify(await signed(second))).resolves.toMatchObject({ id: "alice" });
  await expect(accepts.verify(await signed(outsider))).rejects.toMatchObject({ code: "not_authenticated" });
});

describe("remote keys", () => {
  let served: { status: number; body: string } = { status: 200, body: "" };
  let requests = 0;
  let clockMs = nowMs;
  const logged: unknown[] = [];

  async function startIssuer(...keys: readonly IssuerKey[]): Promise<JwtVerifier> {
    serve(...keys);
    requests = 0;
    clockMs = nowMs;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(served.status, { "content-type": "application/json" }).end(served.body);
    });
    const { url, close } = await listen(server);
    onTestFinished(close);
    const clock = () => clockMs;
    const log = createLog({ write: (line) => void logged.push(JSON.parse(line)) });
    return createIssuerVerifier({ url: `${url}/jwks`, issuer, audience }, log, { nowMs: clock, elapsedMs: clock });
  }

  function serve(...keys: readonly IssuerKey[]): void {
    served = { status: 200, body: JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }) };
  }

  const tokenOf = (by: IssuerKey) =>
    sign({ ...goodClaims, exp: nowSeconds + 86_400 }, { header: { kid: by.kid }, key: by.privateKey });

  test("a rotated key is found at once; unknown key ids cause a fetch every 30 s at most", async () => {
    const next = await createIssuerKey("ES256", "next");
    const outsider = await createIssuerKey("ES256", "outsider");
    const remote = await startIssuer(key);
    await remote.verify(await tokenOf(key));
    serve(next);
    await expect(remote.verify(await tokenOf(next))).resolves.toMatchObject({ id: "alice" });
    expect(requests).toBe(2);
    clockMs += 29_999;
    await expect(remote.verify(await tokenOf(outsider))).rejects.toMatchObject({ code: "not_authenticated" });
    expect(requests).toBe(2);
    clockMs += 1;
    await expect(remote.verify(await tokenOf(outsider))).rejects.toMatchObject({ code: "not_authenticated" });
    expect(requests).toBe(3);
  });

  const outages = [
    { status: 503, body: "" },
    { status: 302, body: "" },
    { status: 200, body: "<html>" },
    { status: 200, body: '{"keys":7}' },
    { status: 200, body: '{"keys":[]}' },
  ];

  test("an outage is unavailable without a key or for an unknown one, known keys stay in use, and it is over at once", async () => {
    const next = await createIssuerKey("ES256", "next");
    const remote = await startIssuer(key);
    const [token, unknown] = [await tokenOf(key), await tokenOf(next)];
    const unavailable = { code: "unavailable" };
    for (served of outages) {
      clockMs += 1000;
      await expect(remote.verify(token)).rejects.toMatchObject(unavailable);
    }
    const asked = requests;
    await expect(remote.verify(token)).rejects.toMatchObject(unavailable);
    expect(requests).toBe(asked);
    expect(logged).toMatchObject([{ level: "warn", error: { cause: { message: expect.stringMatching(/503$/) } } }]);
    serve(key);
    clockMs += 1000;
    await expect(remote.verify(token)).resolves.toMatchObject({ id: "alice" });
    for (served of outages) {
      clockMs += 3_600_000;
      await expect(remote.verify(token)).resolves.toMatchObject({ id: "alice" });
      await expect(remote.verify(unknown)).rejects.toMatchObject(unavailable);
    }
    serve(key, next);
    clockMs += 1000;
    await expect(remote.verify(unknown)).resolves.toMatchObject({ id: "alice" });
  });

  test("a key that was taken out of service stops counting after ten minutes", async () => {
    const next = await createIssuerKey("ES256", "next");
    const remote = await startIssuer(key);
    await remote.verify(await tokenOf(key));
    serve(next);
    clockMs += 599_999;
    await expect(remote.verify(await tokenOf(key))).resolves.toBeDefined();
    clockMs += 1;
    await expect(remote.verify(await tokenOf(key))).rejects.toMatchObject({ code: "not_authenticated" });
  });
});
