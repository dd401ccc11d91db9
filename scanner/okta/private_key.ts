import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
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
export function parsePrivateKey(text: string, { keyId }: PrivateKeyOptions): SigningKey {
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

const pemLabels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];

/** Commands that make an accepted key of a PEM that is not one. */
const conversions: Readonly<Record<string, string>> = {
  "ENCRYPTED PRIVATE KEY": ". Decrypt it into a file: openssl pkey -in key.pem -out decrypted.pem",
  "OPENSSH PRIVATE KEY": ". Convert it: ssh-keygen -p -m PKCS8 -f key.pem",
};

function parsePem(text: string, kid: string | null): SigningKey {
  const unescaped = text.replaceAll(/\\r\\n|\\n|\\r/g, "\n").replaceAll(/\r\n?/g, "\n");
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
    const conversion = conversions[key?.label ?? ""] ?? "";
    throw new PrivateKeyError(`It is PEM with ${held}: expected one of ${expected}${conversion}`);
  }
  return toSigningKey(importPem(key), { kid, alg: undefined });
}

function importPem({ label, body }: { readonly label: string; readonly body: string }): KeyObject {
  // Rewrapped, because a key that went through a single-line variable has lost its line breaks, or has blanks in their place.
  const lines = body.replaceAll(/\s/g, "").match(/.{1,64}/g) ?? [];
  try {
    return createPrivateKey({ key: [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n") });
  } catch {
    // Not kept as a cause: what the library says may quote the input.
    throw new PrivateKeyError(`It is PEM with a "${label}" whose content is damaged or of an unsupported kind`);
  }
}

function parseJwkText(text: string, keyId: string | null): SigningKey {
  const json = parseJson(text);
  if (!isJsonObject(json)) throw new PrivateKeyError("It is JSON, but neither a JWK nor a JWKS");
  const jwk = "keys" in json ? pickKey(json["keys"], keyId) : json;
  return parseJwk(jwk, keyId ?? kidOf(jwk));
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

const algorithms = {
  rsa: ["RS256", "RS384", "RS512"],
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
} as const satisfies Record<string, readonly SigningAlgorithm[]>;

/** The members of a JWK that decide, each with what it must be. */
const jwkMembers: readonly (readonly [name: string, isRight: (value: unknown) => boolean, expected: string])[] = [
  ["kty", (kty) => kty === "RSA" || kty === "EC", '"RSA" or "EC"'],
  ["d", (d) => d !== undefined, "the private half of the key"],
  ["use", (use) => use !== "enc", '"sig"'],
  ["key_ops", (operations) => !Array.isArray(operations) || operations.includes("sign"), '"sign" among them'],
];
const rsaNumbers = ["n", "e", "d", "p", "q", "dp", "dq", "qi"];

function parseJwk(jwk: JsonObject, kid: string | null): SigningKey {
  for (const [name, isRight, expected] of jwkMembers) {
    if (!isRight(jwk[name])) throw wrongMember(jwk, name, expected);
  }
  const names = jwk["kty"] === "RSA" ? rsaNumbers : ["crv", "x", "y", "d"];
  const absent = names.find((name) => jwk[name] === undefined);
  if (absent !== undefined) throw wrongMember(jwk, absent, `all of ${names.join(", ")}`);
  return toSigningKey(importJwk(jwk, names), { kid, alg: jwk["alg"] });
}

/** Shows a value of the members that are no secret, where it is short. */
function wrongMember(jwk: JsonObject, name: string, expected: string): PrivateKeyError {
  const value = jwk[name];
  const shown = typeof value === "string" && /^[\w-]{1,11}$/.test(value) ? `"${value}"` : "something else";
  return new PrivateKeyError(
    `It is a JWK whose "${name}" is ${value === undefined ? "missing" : shown}: expected ${expected}`,
  );
}

function importJwk(jwk: JsonObject, names: readonly string[]): KeyObject {
  try {
    // Only the numbers: Node refuses some values of `alg`, `key_ops` and other fields that a console adds.
    const numbers = Object.fromEntries(["kty", ...names].map((name) => [name, jwk[name]]));
    return createPrivateKey({ key: numbers, format: "jwk" });
  } catch {
    throw new PrivateKeyError("It is a JWK whose numbers are damaged, or whose curve is not P-256, P-384 or P-521");
  }
}

function toSigningKey(
  key: KeyObject,
  { kid, alg }: { readonly kid: string | null; readonly alg: unknown },
): SigningKey {
  const { modulusLength = minRsaBits, namedCurve } = key.asymmetricKeyDetails ?? {};
  const kind = namedCurve ?? key.asymmetricKeyType ?? "unknown";
  if (modulusLength < minRsaBits) {
    throw new PrivateKeyError(`It is an RSA key of ${modulusLength} bits: expected at least ${minRsaBits}`);
  }
  const possible: readonly SigningAlgorithm[] = Object.entries(algorithms).find(([name]) => name === kind)?.[1] ?? [];
  if (possible[0] === undefined) throw new PrivateKeyError(`It is a key of the kind ${kind}: expected RSA, or EC`);
  const chosen = alg === undefined || alg === null ? possible[0] : possible.find((one) => one === alg);
  if (chosen === undefined) throw wrongMember({ alg }, "alg", possible.join(", "));
  requireWorking(key);
  return { key, alg: chosen, kid };
}

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

function kidOf(jwk: JsonObject): string | null {
  const kid = jwk["kid"];
  return typeof kid === "string" && kid !== "" ? kid : null;
}
