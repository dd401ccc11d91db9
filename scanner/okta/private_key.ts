import { createPrivateKey, createPublicKey, sign, verify, type JsonWebKey, type KeyObject } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

type SigningAlgorithm = "RS256" | "RS384" | "RS512" | "ES256" | "ES384" | "ES512";

/** The service application's private key, ready to sign client assertions. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: SigningAlgorithm;
  /** Goes into the assertion's header; null for a PEM key without `IDP_PRIVATE_KEY_ID`. */
  readonly kid: string | null;
  /** The file that it was read from; absent: a variable. */
  readonly file?: string;
}

export interface PrivateKeyOptions {
  /** `IDP_PRIVATE_KEY_ID`: picks the key of a JWKS, and is the `kid` of any other key. */
  readonly keyId: string | null;
}

/** Why a private key was refused, and what is accepted. Never holds key material, and has no cause. */
export class PrivateKeyError extends Error {
  constructor(reason: string) {
    super(`${reason}. Accepted: ${acceptedFormats}`);
    this.name = "PrivateKeyError";
  }
}

const acceptedFormats =
  "a PEM private key (PKCS#8, PKCS#1 or SEC1; also with \\n escapes, or base64 of the PEM), a JWK or a JWKS; " +
  "RSA of at least 2048 bits, or EC on P-256, P-384 or P-521";

const minRsaBits = 2048;
const maxKeyChars = 131_072;

/** Reads a private key in any of the accepted formats. Throws `PrivateKeyError`. */
export function parsePrivateKey(text: string, options: PrivateKeyOptions): SigningKey {
  if (text.length > maxKeyChars) throw new PrivateKeyError(`It is longer than ${maxKeyChars} characters`);
  const plain = unwrap(text);
  if (plain === "") throw new PrivateKeyError("It is empty");
  if (plain.startsWith("{") || plain.startsWith("[")) return parseJwkText(plain, options);
  if (plain.includes("-----BEGIN ")) return parsePem(plain, options);
  if (/^ssh-|^ecdsa-sha2-/.test(plain)) throw new PrivateKeyError("It is an SSH public key, not a private key");
  if (/^[\w.~:/\\ -]{1,400}\.(pem|key|jwk|jwks|json|p8|der|txt)$/i.test(plain)) {
    throw new PrivateKeyError("It looks like the name of a file, which belongs in IDP_PRIVATE_KEY_FILE");
  }
  throw new PrivateKeyError("It is neither PEM nor JSON");
}

/** Takes off what shells, env files and secret stores put around a key: quotes, `\n` escapes, CRLF, base64. */
function unwrap(text: string): string {
  const plain = unquote(text.replace(/^\uFEFF/, "").trim());
  if (plain.startsWith("{") || plain.startsWith("[") || plain.includes("-----BEGIN ")) return plain;
  const packed = plain.replaceAll(/\\[rn]|\s/g, "");
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(packed)) return plain;
  const decoded = unquote(
    Buffer.from(packed, "base64")
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .trim(),
  );
  return decoded.startsWith("{") || decoded.includes("-----BEGIN ") ? decoded : plain;
}

function unquote(text: string): string {
  const quoted = /^(["'`])([\s\S]*)\1$/.exec(text);
  const inner = (quoted?.[2] ?? text).trim();
  // Inside a quoted JSON document the quotes are escaped as well.
  return quoted !== null && /^\{\s*\\"/.test(inner) ? inner.replaceAll('\\"', '"') : inner;
}

function parsePem(text: string, options: PrivateKeyOptions): SigningKey {
  const unescaped = text.replaceAll(/\\r\\n|\\n|\\r/g, "\n").replaceAll(/\r\n?/g, "\n");
  const blocks = [...unescaped.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----((?:(?!-----)[\s\S])*)-----END \1-----/g)];
  const labels = blocks.map((block) => block[1] ?? "");
  const keys = blocks.filter((block) => block[1]?.endsWith("PRIVATE KEY") === true);
  const [block, second] = keys;
  if (second !== undefined) throw new PrivateKeyError(`It holds ${keys.length} private keys where one is expected`);
  if (block === undefined) throw new PrivateKeyError(reasonWithoutKey(labels));
  const label = block[1] ?? "";
  const body = block[2] ?? "";
  if (label === "ENCRYPTED PRIVATE KEY" || /Proc-Type:\s*4,\s*ENCRYPTED/.test(body)) {
    throw new PrivateKeyError(
      "It is encrypted with a passphrase; decrypt it first (openssl pkey -in key.pem -out decrypted.pem)",
    );
  }
  if (label === "OPENSSH PRIVATE KEY") {
    throw new PrivateKeyError("It is in OpenSSH's own format; convert it first (ssh-keygen -p -m PKCS8)");
  }
  if (!["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].includes(label)) {
    throw new PrivateKeyError(`It is a "${label}", which is not supported`);
  }
  return toSigningKey(importPem(label, body), { kid: options.keyId, alg: null });
}

function reasonWithoutKey(labels: readonly string[]): string {
  if (labels.some((label) => label.endsWith("CERTIFICATE"))) return "It is a certificate, not a private key";
  if (labels.some((label) => label.endsWith("PUBLIC KEY")))
    return "It is only the public key; the private key is needed";
  if (labels.length > 0) return `It is PEM, but holds no private key`;
  return "It is PEM that is cut off: no END line matches its BEGIN line";
}

function importPem(label: string, body: string): KeyObject {
  // Rewrapped, because a key that went through a single-line variable has lost its line breaks, or has blanks in their place.
  const base64 = body.replaceAll(/\s/g, "");
  const lines = base64.match(/.{1,64}/g) ?? [];
  try {
    return createPrivateKey({ key: [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n") });
  } catch {
    // Not kept as a cause: what the library says may quote the input.
    throw new PrivateKeyError(`It is a "${label}" in PEM, but its content is damaged or of an unsupported kind`);
  }
}

function parseJwkText(text: string, options: PrivateKeyOptions): SigningKey {
  const json = parseJson(text);
  if (!isJsonObject(json)) throw new PrivateKeyError("It is JSON, but neither a JWK nor a JWKS");
  if (!("keys" in json)) return parseJwk(json, options.keyId ?? kidOf(json));
  if (!Array.isArray(json["keys"])) throw new PrivateKeyError('It is a JWKS whose "keys" is not an array');
  const jwk = pickKey(json["keys"].filter(isJsonObject), options.keyId);
  return parseJwk(jwk, options.keyId ?? kidOf(jwk));
}

function parseJson(text: string): unknown {
  for (const candidate of [text, text.replaceAll(/\\r\\n|\\n|\\r/g, "\n")]) {
    try {
      return JSON.parse(candidate);
    } catch {
      continue;
    }
  }
  throw new PrivateKeyError("It starts like JSON, but is not well-formed");
}

/** The key that signs: the one of that id, or the only private signing key there is. */
function pickKey(keys: readonly JsonObject[], keyId: string | null): JsonObject {
  const kids = keys.map((key) => `"${kidOf(key) ?? "(none)"}"`).join(", ");
  if (keys.length === 0) throw new PrivateKeyError("It is a JWKS without any key");
  if (keyId !== null) {
    const [found, second] = keys.filter((key) => kidOf(key) === keyId);
    if (found === undefined)
      throw new PrivateKeyError(`It is a JWKS without the key of IDP_PRIVATE_KEY_ID; its kids are ${kids}`);
    if (second !== undefined)
      throw new PrivateKeyError("It is a JWKS in which several keys have the kid of IDP_PRIVATE_KEY_ID");
    return found;
  }
  const usable = keys.filter((key) => key["d"] !== undefined && key["use"] !== "enc");
  const [only, other] = usable;
  if (only === undefined) {
    const first = keys[0];
    // A JWKS of one key is refused for that key's own reason.
    if (first !== undefined && keys.length === 1) return first;
    throw new PrivateKeyError(`It is a JWKS without a private signing key; its kids are ${kids}`);
  }
  if (other !== undefined) {
    const choices = usable.map((key) => `"${kidOf(key) ?? "(none)"}"`).join(", ");
    throw new PrivateKeyError(`It is a JWKS with several private keys: set IDP_PRIVATE_KEY_ID to one of ${choices}`);
  }
  return only;
}

function parseJwk(jwk: JsonObject, kid: string | null): SigningKey {
  const kty = jwk["kty"];
  if (kty === "oct")
    throw new PrivateKeyError("It is a symmetric key (oct); the provider knows only the public half of a key pair");
  if (kty === "OKP") throw new PrivateKeyError("It is an Edwards-curve key (OKP), which the provider does not accept");
  if (kty !== "RSA" && kty !== "EC") throw new PrivateKeyError('It is JSON, but no JWK: "kty" is not RSA or EC');
  if (jwk["d"] === undefined)
    throw new PrivateKeyError("It is only the public half of a JWK; the private key is needed");
  if (jwk["use"] === "enc")
    throw new PrivateKeyError('It is a JWK for encryption ("use" is "enc"); a signing key is needed');
  const operations = jwk["key_ops"];
  if (Array.isArray(operations) && !operations.includes("sign"))
    throw new PrivateKeyError('It is a JWK whose "key_ops" do not hold "sign"; a signing key is needed');
  if (kty === "EC" && !["P-256", "P-384", "P-521"].includes(String(jwk["crv"]))) throw unsupportedCurve();
  if (kty === "RSA" && ["p", "q", "dp", "dq", "qi"].some((field) => jwk[field] === undefined)) {
    throw new PrivateKeyError('It is an RSA JWK without its "p", "q", "dp", "dq" and "qi"');
  }
  return toSigningKey(importJwk(jwk), { kid, alg: jwk["alg"] ?? null });
}

function importJwk(jwk: JsonObject): KeyObject {
  try {
    const { kty, n, e, d, p, q, dp, dq, qi, crv, x, y } = jwk as JsonWebKey;
    // Only the numbers: Node refuses some values of `alg`, `key_ops` and other fields that a console adds.
    const numbers = kty === "EC" ? { kty, crv, x, y, d } : { kty, n, e, d, p, q, dp, dq, qi };
    return createPrivateKey({ key: numbers as JsonWebKey, format: "jwk" });
  } catch {
    throw new PrivateKeyError("It is a JWK, but its numbers are damaged");
  }
}

function toSigningKey(key: KeyObject, hints: { readonly kid: string | null; readonly alg: unknown }): SigningKey {
  const alg = algorithmOf(key, hints.alg);
  requireWorking(key);
  return { key, alg, kid: hints.kid };
}

function algorithmOf(key: KeyObject, hint: unknown): SigningAlgorithm {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === "rsa") {
    const bits = details?.modulusLength ?? 0;
    if (bits < minRsaBits) throw new PrivateKeyError(`It is an RSA key of ${bits} bits, which is too short`);
    if (hint === null || hint === "RS256") return "RS256";
    if (hint === "RS384" || hint === "RS512") return hint;
    throw new PrivateKeyError('It is an RSA JWK whose "alg" is not RS256, RS384 or RS512');
  }
  if (key.asymmetricKeyType === "ec") {
    const alg = algorithmsOfCurves[details?.namedCurve ?? ""];
    if (alg === undefined) throw unsupportedCurve();
    if (hint === null || hint === alg) return alg;
    throw new PrivateKeyError(`It is an EC JWK whose "alg" is not ${alg}, the one of its curve`);
  }
  throw new PrivateKeyError(
    `It is a private key of type ${key.asymmetricKeyType ?? "unknown"}, which the provider does not accept`,
  );
}

const algorithmsOfCurves: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/** A key whose halves do not belong together is found here, not as "signature is invalid" from the provider. */
function requireWorking(key: KeyObject): void {
  const sample = Buffer.from("scanstream");
  try {
    if (verify("sha256", sample, createPublicKey(key), sign("sha256", sample, key))) return;
  } catch {
    // Thrown below, without the library's message, which may quote the key.
  }
  throw new PrivateKeyError("Its private and public numbers do not belong together");
}

function unsupportedCurve(): PrivateKeyError {
  return new PrivateKeyError("It is an EC key on an unsupported curve");
}

function kidOf(jwk: JsonObject): string | null {
  const kid = jwk["kid"];
  return typeof kid === "string" && kid !== "" ? kid : null;
}
