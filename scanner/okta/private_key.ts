import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/** Algorithms by the kind of the key; the first is used where a JWK names none. */
const algorithms = {
  rsa: ["RS256", "RS384", "RS512"],
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
} as const;

type SigningAlgorithm = (typeof algorithms)[keyof typeof algorithms][number];

/** The service application's private key, ready to sign client assertions. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: SigningAlgorithm;
  /** Goes into the assertion's header; null for a PEM key without `IDP_PRIVATE_KEY_ID`. */
  readonly kid: string | null;
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

/**
 * Reads a private key in any of the accepted formats. `keyId` is `IDP_PRIVATE_KEY_ID`: it picks the key of a JWKS, and is the `kid` of
 * any other key. Throws `PrivateKeyError`.
 */
export function parsePrivateKey(text: string, keyId: string | null = null): SigningKey {
  if (text.length > maxKeyChars) throw new PrivateKeyError(`It is longer than ${maxKeyChars} characters`);
  const plain = unwrap(text);
  if (plain === "") throw new PrivateKeyError("It is empty");
  if (plain.startsWith("{") || plain.startsWith("[")) return parseJwkText(plain, keyId);
  if (plain.includes("-----BEGIN ")) return parsePem(plain, keyId);
  if (/^[\w.~:/\\ -]{1,400}\.(pem|key|jwk|jwks|json|p8|der|txt)$/i.test(plain)) {
    throw new PrivateKeyError("It looks like the name of a file, which belongs in IDP_PRIVATE_KEY_FILE");
  }
  throw new PrivateKeyError("It is neither PEM nor JSON");
}

/** Takes off what shells, env files and secret stores put around a key: quotes, `\n` escapes, base64. */
function unwrap(text: string): string {
  const plain = unquote(text);
  if (/^[{[]|-----BEGIN /.test(plain)) return plain;
  const decoded = unquote(Buffer.from(plain.replaceAll(/\\[rn]|\s/g, ""), "base64").toString("utf8"));
  return /^\{|-----BEGIN /.test(decoded) ? decoded : plain;
}

function unquote(text: string): string {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  const quoted = /^(["'`])([\s\S]*)\1$/.exec(trimmed);
  const inner = (quoted?.[2] ?? trimmed).trim();
  // Inside a quoted JSON document the quotes are escaped as well.
  return quoted !== null && /^\{\s*\\"/.test(inner) ? inner.replaceAll('\\"', '"') : inner;
}

const pemLabels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];

/** Commands that make an accepted key of a PEM that is not one. */
const conversions: Readonly<Record<string, string>> = {
  "ENCRYPTED PRIVATE KEY": ". Decrypt it into a file: openssl pkey -in key.pem -out decrypted.pem",
  "OPENSSH PRIVATE KEY": ". Convert it: ssh-keygen -p -m PKCS8 -f key.pem",
};

function parsePem(text: string, kid: string | null): SigningKey {
  const unescaped = text.replaceAll(/\\[rn]/g, "\n");
  const blocks = [...unescaped.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----((?:(?!-----)[\s\S])*)-----END \1-----/g)].map(
    ([, label = "", body = ""]) => ({
      label: /Proc-Type:.*ENCRYPTED/.test(body) ? "ENCRYPTED PRIVATE KEY" : label,
      body,
    }),
  );
  const [key, ...others] = blocks.filter(({ label }) => label.endsWith("PRIVATE KEY"));
  if (key === undefined || others.length > 0 || !pemLabels.includes(key.label)) {
    const held = blocks.map(({ label }) => `"${label}"`).join(" and ") || "no complete block";
    const expected = pemLabels.map((label) => `"${label}"`).join(", ");
    throw new PrivateKeyError(
      `It is PEM with ${held}: expected one of ${expected}${conversions[key?.label ?? ""] ?? ""}`,
    );
  }
  // Rewrapped, because a key that went through a single-line variable has lost its line breaks, or has blanks in their place.
  const lines = key.body.replaceAll(/\s/g, "").match(/.{1,64}/g) ?? [];
  const pem = [`-----BEGIN ${key.label}-----`, ...lines, `-----END ${key.label}-----`, ""].join("\n");
  return toSigningKey(() => createPrivateKey(pem), { form: `PEM with a "${key.label}"`, kid });
}

function parseJwkText(text: string, keyId: string | null): SigningKey {
  const json = parseJson(text);
  if (!isJsonObject(json)) throw new PrivateKeyError("It is JSON, but neither a JWK nor a JWKS");
  const jwk = "keys" in json ? pickKey(json["keys"], keyId) : json;
  return parseJwk(jwk, keyId ?? kidOf(jwk));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(/\\[rn]/g, "\n"));
  } catch {
    throw new PrivateKeyError("It starts like JSON, but is not well-formed");
  }
}

/** The key that signs: the one of that id, or the only private signing key there is. */
function pickKey(list: unknown, keyId: string | null): JsonObject {
  const keys = Array.isArray(list) ? list.filter(isJsonObject) : [];
  const signing = keys.filter((key) => key["d"] !== undefined && key["use"] !== "enc");
  // The only key is refused for its own reason.
  const unnamed = keys.length === 1 ? keys : signing;
  const found = keyId === null ? unnamed : keys.filter((key) => kidOf(key) === keyId);
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const wanted = keyId === null ? "private signing keys" : "keys with the kid of IDP_PRIVATE_KEY_ID";
  const kids = keys.map((key) => `"${kidOf(key) ?? "(none)"}"`).join(", ") || "none";
  throw new PrivateKeyError(
    `It is a JWKS with ${found.length} ${wanted}: expected one. Set IDP_PRIVATE_KEY_ID to one of its kids: ${kids}`,
  );
}

const numbersOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ["n", "e", "d", "p", "q", "dp", "dq", "qi"],
  EC: ["crv", "x", "y", "d"],
};

function parseJwk(jwk: JsonObject, kid: string | null): SigningKey {
  const { kty, d, use, key_ops: operations, alg } = jwk;
  const numbers = numbersOf[String(kty)];
  if (numbers === undefined) throw wrongMember("kty", kty, '"RSA" or "EC"');
  if (d === undefined) throw wrongMember("d", d, "the private half of the key");
  if (use === "enc") throw wrongMember("use", use, '"sig"');
  if (Array.isArray(operations) && !operations.includes("sign"))
    throw wrongMember("key_ops", operations, '"sign" among them');
  const absent = numbers.find((name) => jwk[name] === undefined);
  if (absent !== undefined) throw wrongMember(absent, undefined, `all of ${numbers.join(", ")}`);
  // Only the numbers: Node refuses some values of `alg`, `key_ops` and other fields that a console adds.
  const key = Object.fromEntries(["kty", ...numbers].map((name) => [name, jwk[name]]));
  return toSigningKey(() => createPrivateKey({ key, format: "jwk" }), { form: "a JWK", kid, alg });
}

/** Shows a short value of a member that is not secret. */
function wrongMember(name: string, value: unknown, expected: string): PrivateKeyError {
  const isShown = typeof value === "string" && /^[\w-]{1,11}$/.test(value);
  const found = value === undefined ? "missing" : isShown ? `"${value}"` : "something else";
  return new PrivateKeyError(`It is a JWK whose "${name}" is ${found}: expected ${expected}`);
}

interface KeyFacts {
  readonly form: string;
  readonly kid: string | null;
  readonly alg?: unknown;
}

function toSigningKey(read: () => KeyObject, { form, kid, alg }: KeyFacts): SigningKey {
  const key = readWorking(read);
  if (key === null)
    throw new PrivateKeyError(`It is ${form} whose content is damaged, of an unsupported kind, or of two keys`);
  const { modulusLength = minRsaBits, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < minRsaBits)
    throw new PrivateKeyError(`It is an RSA key of ${modulusLength} bits: expected at least ${minRsaBits}`);
  const kind = namedCurve ?? key.asymmetricKeyType ?? "unknown";
  const possible: readonly SigningAlgorithm[] = Object.entries(algorithms).find(([name]) => name === kind)?.[1] ?? [];
  if (possible.length === 0) throw new PrivateKeyError(`It is a key of the kind ${kind}: expected RSA, or EC`);
  const chosen = possible.find((name) => name === (alg ?? possible[0]));
  if (chosen === undefined) throw wrongMember("alg", alg, possible.join(", "));
  return { key, alg: chosen, kid };
}

/** Null for a key that cannot be read, or whose halves do not belong together. Without the library's message, which may quote the key. */
function readWorking(read: () => KeyObject): KeyObject | null {
  const sample = Buffer.from("scanstream");
  try {
    const key = read();
    const digest = key.asymmetricKeyType === "ed25519" ? null : "sha256";
    return verify(digest, sample, createPublicKey(key), sign(digest, sample, key)) ? key : null;
  } catch {
    return null;
  }
}

function kidOf(jwk: JsonObject): string | null {
  const kid = jwk["kid"];
  return typeof kid === "string" && kid !== "" ? kid : null;
}
