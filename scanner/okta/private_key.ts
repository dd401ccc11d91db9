import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { isJsonObject, parseJsonObject, type JsonObject } from "../../shared/json.ts";

/** Algorithms by the kind of the key; the first is used where a JWK names none. */
const algorithms: Readonly<Record<string, readonly string[]>> = {
  rsa: ["RS256", "RS384", "RS512"],
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
};

/** The service application's private key, ready to sign client assertions. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: string;
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

/**
 * Reads a private key in any of the accepted formats. `keyId` is `IDP_PRIVATE_KEY_ID`: it picks the key of a JWKS, and is the `kid` of
 * any other key. Throws `PrivateKeyError`.
 */
export function parsePrivateKey(text: string, keyId: string | null = null): SigningKey {
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

/** Structures by the label of a PEM block. */
const pemTypes: Readonly<Record<string, "pkcs8" | "pkcs1" | "sec1">> = {
  "PRIVATE KEY": "pkcs8",
  "RSA PRIVATE KEY": "pkcs1",
  "EC PRIVATE KEY": "sec1",
};

/** Commands that make an accepted key of a PEM that is not one. */
const conversions: Readonly<Record<string, string>> = {
  "ENCRYPTED PRIVATE KEY": ". Decrypt it into a file: openssl pkey -in FILE -out decrypted.pem",
  "OPENSSH PRIVATE KEY": ". Convert it: ssh-keygen -p -m PKCS8 -f FILE",
};

function parsePem(text: string, kid: string | null): SigningKey {
  const unescaped = text.replaceAll(/\\[rn]/g, "\n");
  const blocks = [...unescaped.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----((?:(?!-----)[\s\S])*)-----END \1-----/g)].map(
    ([, label = "", body = ""]) => ({
      label: /Proc-Type:.*ENCRYPTED/.test(body) ? "ENCRYPTED PRIVATE KEY" : label,
      body,
    }),
  );
  const [found, ...others] = blocks.filter(({ label }) => label.endsWith("PRIVATE KEY"));
  const { label, body } = found ?? { label: "", body: "" };
  const type = others.length === 0 ? pemTypes[label] : undefined;
  if (type === undefined) {
    const held = quoted(blocks.map((block) => block.label)).join(" and ") || "no complete block";
    const expected = `expected one of ${quoted(Object.keys(pemTypes)).join(", ")}`;
    throw new PrivateKeyError(`It is PEM with ${held}: ${expected}${conversions[label] ?? ""}`);
  }
  // Not as PEM: a key that went through a single-line variable has lost its line breaks, or has blanks in their place.
  const key = Buffer.from(body, "base64");
  return toSigningKey(() => createPrivateKey({ key, format: "der", type }), { form: `PEM with a "${label}"`, kid });
}

function quoted(texts: readonly string[]): readonly string[] {
  return texts.map((text) => `"${text}"`);
}

function parseJwkText(text: string, keyId: string | null): SigningKey {
  const json = parseJsonObject(text.replaceAll(/\\[rn]/g, "\n"));
  if (json === null) {
    if (text.startsWith("[")) throw new PrivateKeyError('It is a JSON list: expected one JWK, or {"keys": [...]}');
    throw new PrivateKeyError("It starts like JSON, but is not well-formed: copy it whole, with its double quotes");
  }
  const jwk = "keys" in json ? pickKey(json["keys"], keyId) : json;
  return parseJwk(jwk, keyId ?? kidOf(jwk));
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
  if (signing.length === 0)
    throw new PrivateKeyError('It is a JWKS without a private signing key: expected one with its private half, "d"');
  const wanted = keyId === null ? "private signing keys" : "keys with the kid of IDP_PRIVATE_KEY_ID";
  const kids = quoted(signing.map((key) => kidOf(key) ?? "(none)")).join(", ");
  throw new PrivateKeyError(
    `It is a JWKS with ${found.length} ${wanted}: expected one. Set IDP_PRIVATE_KEY_ID to one of its kids: ${kids}`,
  );
}

const numbersOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ["n", "e", "d", "p", "q", "dp", "dq", "qi"],
  EC: ["crv", "x", "y", "d"],
};

function parseJwk(jwk: JsonObject, kid: string | null): SigningKey {
  const { kty, d, use, key_ops: operations } = jwk;
  const numbers = numbersOf[String(kty)];
  if (numbers === undefined) throw wrongMember(jwk, "kty", '"RSA" or "EC"');
  if (d === undefined) throw wrongMember(jwk, "d", "the private half of the key");
  if (use === "enc") throw wrongMember(jwk, "use", '"sig"');
  if (Array.isArray(operations) && !operations.includes("sign")) throw wrongMember(jwk, "key_ops", '"sign" among them');
  const absent = numbers.find((name) => jwk[name] === undefined);
  if (absent !== undefined) throw wrongMember(jwk, absent, `all of ${numbers.join(", ")}`);
  // Only the numbers: Node refuses some values of `alg`, `key_ops` and other fields that a console adds.
  const key = Object.fromEntries(["kty", ...numbers].map((name) => [name, jwk[name]]));
  return toSigningKey(() => createPrivateKey({ key, format: "jwk" }), { form: "a JWK", kid, jwk });
}

/** Shows a short value of a member that is not secret. */
function wrongMember(jwk: JsonObject, name: string, expected: string): PrivateKeyError {
  const value = jwk[name];
  const isShown = typeof value === "string" && /^[\w-]{1,11}$/.test(value);
  const found = value === undefined ? "missing" : isShown ? `"${value}"` : "something else";
  return new PrivateKeyError(`It is a JWK whose "${name}" is ${found}: expected ${expected}`);
}

/** `jwk`: the key's members, which may name an algorithm. */
function toSigningKey(
  read: () => KeyObject,
  { form, kid, jwk = {} }: { readonly form: string; readonly kid: string | null; readonly jwk?: JsonObject },
): SigningKey {
  const key = readWorking(read);
  if (key === null)
    throw new PrivateKeyError(`It is ${form} whose content is damaged, of an unsupported kind, or of two keys`);
  const { modulusLength = minRsaBits, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < minRsaBits)
    throw new PrivateKeyError(`It is an RSA key of ${modulusLength} bits: expected at least ${minRsaBits}`);
  const kind = namedCurve ?? key.asymmetricKeyType ?? "unknown";
  const possible = algorithms[kind];
  if (possible === undefined) throw new PrivateKeyError(`It is a key of the kind ${kind}: expected RSA, or EC`);
  const alg = possible.find((name) => name === (jwk["alg"] ?? possible[0]));
  if (alg === undefined) throw wrongMember(jwk, "alg", possible.join(", "));
  return { key, alg, kid };
}

/** Null for a key that cannot be read, or whose halves do not belong together. Without the library's message, which may quote the key. */
function readWorking(read: () => KeyObject): KeyObject | null {
  const sample = Buffer.from("scanstream");
  try {
    const key = read();
    return verify(null, sample, createPublicKey(key), sign(null, sample, key)) ? key : null;
  } catch {
    return null;
  }
}

function kidOf(jwk: JsonObject): string | null {
  const kid = jwk["kid"];
  return typeof kid === "string" && kid !== "" ? kid : null;
}
