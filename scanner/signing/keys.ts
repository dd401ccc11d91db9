import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from "node:crypto";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";

/** Signs with a key that never leaves this object: ECDSA over SHA-256 in DER. */
export type Signer = ReturnType<typeof parseSigner>;
export type Verifier = Awaited<ReturnType<typeof readVerifier>>;

const accepted = "an unencrypted PKCS#8 PEM of a P-256 key, as openssl genpkey writes it";

/** The key of a file, or else the text of SCANSTREAM_SIGNING_KEY; null where none is given. Throws `UsageError` for a key that cannot sign. */
export async function readSigner(source: NamedFile | null, text: string | null): Promise<Signer | null> {
  if (source === null)
    return text === null ? null : parseSigner(text.replaceAll("\\n", "\n"), "SCANSTREAM_SIGNING_KEY");
  if (text !== null && source.option !== "--sign")
    throw new UsageError([`SCANSTREAM_SIGNING_KEY and ${source.option} are both set: expected one of them`]);
  return parseSigner(await readPem(source), placeOf(source));
}

function parseSigner(pem: string, where: string) {
  if (/-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(pem))
    throw new UsageError([`${where}: it is a public key: expected ${accepted}`]);
  if (pem.includes("ENCRYPTED")) throw new UsageError([`${where}: the key is encrypted: expected ${accepted}`]);
  const key = parseKey(() => createPrivateKey(pem), where);
  return { keyId: keyIdOf(createPublicKey(key)), sign: (bytes: Uint8Array) => sign("sha256", bytes, key) };
}

/** The key of `--key`. Throws `UsageError` where it is not a public key of P-256. */
export async function readVerifier(source: NamedFile) {
  const pem = await readPem(source);
  if (pem.includes("PRIVATE KEY"))
    throw new UsageError([`${placeOf(source)}: it is a private key: expected the public key`]);
  const key = parseKey(() => createPublicKey(pem), placeOf(source));
  const isOfKey = (bytes: Uint8Array, signature: Uint8Array) => verify("sha256", bytes, key, signature);
  return { keyId: keyIdOf(key), verify: isOfKey };
}

function readPem(source: NamedFile): Promise<string> {
  return readOptionFile({ ...source, maxBytes: 65_536 }, (text) => text);
}

function placeOf({ option, file }: NamedFile): string {
  return `${option} ${JSON.stringify(file)}`;
}

function parseKey(make: () => KeyObject, where: string): KeyObject {
  let key: KeyObject;
  try {
    key = make();
  } catch {
    // The cause may hold a part of the key.
    throw new UsageError([`${where}: not a readable key: expected ${accepted}`]);
  }
  const { asymmetricKeyType: kind = "unknown", asymmetricKeyDetails: details } = key;
  if (kind === "ec" && details?.namedCurve === "prime256v1") return key;
  const found = kind === "ec" ? `an EC key on ${details?.namedCurve ?? "another curve"}` : `a key of the kind ${kind}`;
  throw new UsageError([`${where}: it is ${found}: expected a P-256 key`]);
}

/** SHA-256 of the public key (SPKI) in hex. */
function keyIdOf(key: KeyObject): string {
  return hash("sha256", key.export({ type: "spki", format: "der" }), "hex");
}
