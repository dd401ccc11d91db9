import { createPrivateKey, generateKeyPairSync, verify, sign, type KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import { parsePrivateKey as parse, PrivateKeyError, type SigningKey } from "../../../scanner/okta/private_key.ts";
import { thrownBy } from "../../support/errors.ts";
import { createSelfSigned } from "../../support/self_signed.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const p521 = generateKeyPairSync("ec", { namedCurve: "P-521" });

const pem = (key: KeyObject, type: "pkcs8" | "pkcs1" | "sec1") => key.export({ type, format: "pem" }).toString();
const jwk = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: "jwk" }), ...more });

const pkcs8 = pem(rsa.privateKey, "pkcs8");
const escaped = pkcs8.replaceAll("\n", "\\n");

test.each([
  ["PKCS#8", pkcs8],
  ["PKCS#1", pem(rsa.privateKey, "pkcs1")],
  ["\\n escapes", escaped],
  ["single quotes and blanks", `  '${pkcs8}' \n`],
  ["line breaks turned into blanks", pkcs8.replaceAll("\n", " ")],
  ["a byte order mark", `\uFEFF${pkcs8}`],
  ["base64 of a PEM", Buffer.from(pkcs8).toString("base64")],
  ["a certificate beside the key", `${createSelfSigned("localhost").cert}${pkcs8}`],
  ["JWK", JSON.stringify(jwk(rsa.privateKey))],
  ["JWK of the console", JSON.stringify(jwk(rsa.privateKey, { use: "sig", alg: "RS256", status: "ACTIVE" }))],
  ["JWK escaped in quotes", JSON.stringify(JSON.stringify(jwk(rsa.privateKey)))],
  ["base64 of a JWK", Buffer.from(JSON.stringify(jwk(rsa.privateKey))).toString("base64")],
  ["JWKS of one", JSON.stringify({ keys: [jwk(rsa.privateKey)] })],
])("parsePrivateKey reads an RSA key as %s", (_, text) => {
  const key = parse(text);
  expect(key.alg).toBe("RS256");
  expect(key.kid).toBeNull();
  expectSame(key, rsa.publicKey);
});

test.each([
  ["SEC1, P-256", pem(p256.privateKey, "sec1"), "ES256", p256],
  ["PKCS#8, P-384", pem(p384.privateKey, "pkcs8"), "ES384", p384],
  ["SEC1, P-521", pem(p521.privateKey, "sec1"), "ES512", p521],
  [
    "SEC1 after its parameters",
    `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem(p256.privateKey, "sec1")}`,
    "ES256",
    p256,
  ],
  ["JWK, P-256", JSON.stringify(jwk(p256.privateKey)), "ES256", p256],
] as const)("parsePrivateKey reads an EC key as %s", (_, text, alg, pair) => {
  const key = parse(text);
  expect(key.alg).toBe(alg);
  expectSame(key, pair.publicKey);
});

test("parsePrivateKey takes the algorithm that a JWK names, if its key can sign with it", () => {
  expect(parse(JSON.stringify(jwk(rsa.privateKey, { alg: "RS512" }))).alg).toBe("RS512");
  expect(reasonOf(JSON.stringify(jwk(rsa.privateKey, { alg: "RSA-OAEP" })))).toContain(
    '"alg" is "RSA-OAEP": expected RS256',
  );
  expect(parse(JSON.stringify(jwk(p384.privateKey, { alg: "ES384" }))).alg).toBe("ES384");
  expect(reasonOf(JSON.stringify(jwk(p256.privateKey, { alg: "ES384" })))).toContain(
    '"alg" is "ES384": expected ES256',
  );
});

test("parsePrivateKey takes the kid from IDP_PRIVATE_KEY_ID, else from the JWK", () => {
  expect(parse(pkcs8, "key-1").kid).toBe("key-1");
  expect(parse(JSON.stringify(jwk(rsa.privateKey, { kid: "of-the-jwk" }))).kid).toBe("of-the-jwk");
  expect(parse(JSON.stringify(jwk(rsa.privateKey, { kid: "of-the-jwk" })), "given").kid).toBe("given");
});

test("parsePrivateKey picks the key of a JWKS", () => {
  const a = jwk(rsa.privateKey, { kid: "a" });
  const b = jwk(p256.privateKey, { kid: "b" });
  const publicC = jwk(p384.publicKey, { kid: "c" });
  const forEncryption = jwk(p384.privateKey, { kid: "d", use: "enc" });
  const jwks = (...keys: object[]) => JSON.stringify({ keys });
  expect(parse(jwks(a, b), "b")).toMatchObject({ alg: "ES256", kid: "b" });
  expect(parse(jwks(publicC, forEncryption, a))).toMatchObject({ alg: "RS256", kid: "a" });
  expect(reasonOf(jwks(a, b))).toContain(
    '2 private signing keys: expected one. Set IDP_PRIVATE_KEY_ID to one of its kids: "a", "b"',
  );
  expect(reasonOf(jwks(a, b), "z")).toContain("0 keys with the kid of IDP_PRIVATE_KEY_ID");
  expect(reasonOf(jwks(a, { ...b, kid: "a" }), "a")).toContain("2 keys with the kid");
  for (const none of [jwks(publicC, forEncryption), jwks(), '{"keys":{}}'])
    expect(reasonOf(none)).toContain("a JWKS without a private signing key");
  expect(reasonOf(jwks(a, publicC), "c")).toContain('"d" is missing');
  expect(reasonOf(jwks(publicC))).toContain('"d" is missing');
});

test("parsePrivateKey accepts RSA from 2048 bits", () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 2047 }).privateKey;
  expect(reasonOf(pem(short, "pkcs8"))).toContain("RSA key of 2047 bits: expected at least 2048");
  expect(reasonOf(JSON.stringify(jwk(short)))).toContain("2047 bits");
  expect(parse(pkcs8).alg).toBe("RS256");
});

const protect = { cipher: "aes-256-cbc", passphrase: "correct horse" } as const;
const damaged = pkcs8.replace(/(MII.{20}).{8}/s, "$1AAAAAAAA");
const rsaJwk = jwk(rsa.privateKey);

test.each([
  ["empty", " \n", "empty"],
  ["words", "hunter2 hunter2", "neither PEM nor JSON"],
  ["a file name", "/etc/scanstream/private-key.pem", "IDP_PRIVATE_KEY_FILE"],
  [
    "encrypted PKCS#8",
    rsa.privateKey.export({ type: "pkcs8", format: "pem", ...protect }).toString(),
    "-out decrypted.pem",
  ],
  [
    "a public PEM",
    rsa.publicKey.export({ type: "spki", format: "pem" }).toString(),
    '"PUBLIC KEY": expected one of "PRIVATE KEY"',
  ],
  ["a public JWK", JSON.stringify(jwk(p256.publicKey)), '"d" is missing: expected the private half'],
  ["two private keys", pkcs8 + pem(p256.privateKey, "sec1"), '"PRIVATE KEY" and "EC PRIVATE KEY"'],
  ["a symmetric JWK", JSON.stringify({ kty: "oct", k: "c2VjcmV0LXNlY3JldA" }), '"kty" is "oct"'],
  ["an Ed25519 PEM", pem(generateKeyPairSync("ed25519").privateKey, "pkcs8"), "ed25519"],
  ["a secp256k1 PEM", pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey, "sec1"), "kind secp256k1"],
  ["a JWK that only verifies", JSON.stringify(jwk(p256.privateKey, { key_ops: ["verify"] })), '"key_ops"'],
  ["an encryption JWK", JSON.stringify({ ...rsaJwk, use: "enc" }), '"use" is "enc": expected "sig"'],
  ["an RSA JWK of n, e, d", JSON.stringify({ kty: "RSA", n: rsaJwk.n, e: rsaJwk.e, d: rsaJwk.d }), '"p" is missing'],
  [
    "a JWK of two keys",
    JSON.stringify({
      ...jwk(p256.privateKey),
      d: jwk(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey).d,
    }),
    "",
  ],
  ["a damaged JWK", JSON.stringify({ ...rsaJwk, p: "AAAA" }), ""],
  ["JSON of something else", '{"client_id":"x"}', '"kty" is missing'],
  ["a JSON array", "[1]", "JSON list: expected one JWK"],
  ["cut-off JSON", JSON.stringify(rsaJwk).slice(0, 400), "not well-formed: copy it whole"],
  ["a cut-off PEM", pkcs8.slice(0, 400), "no complete block"],
  ["a damaged PEM", damaged, ""],
  [
    "an OpenSSH key",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
    "ssh-keygen -p -m PKCS8",
  ],
])("parsePrivateKey refuses %s with its reason, and shows nothing of it", (_, text, reason) => {
  const error = refusalOf(text);
  expect(error.message).toContain(reason);
  expect(error.message).toContain("Accepted: a PEM private key (PKCS#8, PKCS#1 or SEC1");
  expect(error.cause).toBeUndefined();
  const shown = `${error.message}${String(error.stack)}${JSON.stringify(error)}`;
  for (const word of text.match(/[A-Za-z0-9+/_-]{12,}/g) ?? []) expect(shown).not.toContain(word.slice(0, 12));
});

test("a parsed key does not show its material when it is printed", () => {
  const key = parse(pkcs8);
  expect(JSON.stringify(key)).not.toMatch(/MII|"d"/);
});

function expectSame(key: SigningKey, publicKey: KeyObject): void {
  const sample = Buffer.from("sample");
  const signature = sign("sha256", sample, createPrivateKey(key.key.export({ type: "pkcs8", format: "pem" })));
  expect(verify("sha256", sample, publicKey, signature)).toBe(true);
}

const refusalOf = (text: string, keyId: string | null = null) => thrownBy(PrivateKeyError, () => parse(text, keyId));
const reasonOf = (...given: Parameters<typeof refusalOf>) => refusalOf(...given).message;
