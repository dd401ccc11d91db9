import { createPrivateKey, createPublicKey, createHash, sign, verify, type KeyObject } from "node:crypto";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";

/** Signs with a key that never leaves this object. */
export interface Signer {
  /** SHA-256 of the public key (SPKI) in hex. */
  readonly keyId: string;
  /** ECDSA over SHA-256 in DER. */
  sign(bytes: Uint8Array): Uint8Array;
}

export interface Verifier {
  readonly keyId: string;
  verify(bytes: Uint8Array, signature: Uint8Array): boolean;
}

const accepted = "an unencrypted PKCS#8 PEM of a P-256 key, as openssl genpkey writes it";
const maxKeyBytes = 65_536;

/** The key of a file, or else the text of SCANSTREAM_SIGNING_KEY; null where none is given. Throws `UsageError` for a key that cannot sign. */
export async function readSigner(source: NamedFile | null, text: string | null): Promise<Signer | null> {
  if (source === null)
    return text === null ? null : parseSigner(text.replaceAll("\\n", "\n"), "SCANSTREAM_SIGNING_KEY");
  if (text !== null && source.option !== "--sign")
    throw new UsageError([`SCANSTREAM_SIGNING_KEY and ${source.option} are both set: expected one of them`]);
  return parseSigner(await readKey(source), `${source.option} ${JSON.stringify(source.file)}`);
}

function parseSigner(pem: string, where: string): Signer {
  if (/-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(pem))
    throw new UsageError([`${where}: it is a public key: expected ${accepted}`]);
  if (pem.includes("ENCRYPTED")) throw new UsageError([`${where}: the key is encrypted: expected ${accepted}`]);
  const key = parse(() => createPrivateKey(pem), where);
  requireKind(key, where);
  return {
    keyId: keyIdOf(createPublicKey(key)),
    sign: (bytes) => sign("sha256", bytes, key),
  };
}

/** The key of `--key`. Throws `UsageError` where it is no public key of P-256. */
export async function readVerifier(source: NamedFile): Promise<Verifier> {
  const pem = await readKey(source);
  const where = `${source.option} ${JSON.stringify(source.file)}`;
  if (pem.includes("PRIVATE KEY")) {
    throw new UsageError([`${where}: it is a private key: expected the public key`]);
  }
  const key = parse(() => createPublicKey(pem), where);
  requireKind(key, where);
  return {
    keyId: keyIdOf(key),
    verify: (bytes, signature) => verify("sha256", bytes, key, signature),
  };
}

function readKey(source: NamedFile): Promise<string> {
  return readOptionFile({ ...source, maxBytes: maxKeyBytes }, (text) => text);
}

function parse(make: () => KeyObject, where: string): KeyObject {
  try {
    return make();
  } catch {
    // The cause may hold a part of the key.
    throw new UsageError([`${where}: not a readable key: expected ${accepted}`]);
  }
}

function requireKind(key: KeyObject, where: string): void {
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = key;
  if (kind === "ec" && details?.namedCurve === "prime256v1") return;
  const found =
    kind === "ec" ? `an EC key on ${details?.namedCurve ?? "another curve"}` : `a key of the kind ${kind ?? "unknown"}`;
  throw new UsageError([`${where}: it is ${found}: expected a P-256 key`]);
}

function keyIdOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");
}
