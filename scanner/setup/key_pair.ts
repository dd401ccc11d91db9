import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { explainWriteError, makeDirectory } from "../../command_line/files.ts";
import { hasCode, readProblem } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { parsePrivateKey, PrivateKeyError } from "../okta/private_key.ts";

const keyFolder = join(".scanstream", "keys");

export interface SetupKey {
  /** The private key, relative to the working directory. */
  readonly file: string;
  readonly privateKey: KeyObject;
  /** The RFC 7638 thumbprint. */
  readonly kid: string;
  /** Key as the console takes it: one line of JSON. */
  readonly publicJwk: string;
  readonly isNew: boolean;
}

/** `acme.okta.com`, or `127.0.0.1_8788` where the address has a port. */
export function hostName(orgUrl: string): string {
  return new URL(orgUrl).host.replaceAll(/[[\]]/g, "").replaceAll(":", "_");
}

/** The P-256 key of an org: the one of an earlier run, else a new one. It is never replaced and never leaves this machine. */
export async function loadSetupKey(orgUrl: string): Promise<SetupKey> {
  const file = join(keyFolder, `${hostName(orgUrl)}.pem`);
  const existing = await readFile(file, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    throw new UsageError([`Cannot read the key ${JSON.stringify(file)}: ${readProblem(error) ?? "it cannot be read"}`]);
  });
  if (existing !== null) return describeKey(file, parseExisting(existing, file), false);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  try {
    await makeDirectory(keyFolder, 0o700);
    await writeFile(file, pem, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new UsageError([explainWriteError(`the key ${JSON.stringify(file)}`, error)]);
  }
  return describeKey(file, privateKey, true);
}

function parseExisting(pem: string, file: string): KeyObject {
  try {
    const { key } = parsePrivateKey(pem, { keyId: null });
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
  }
  throw new UsageError([
    `The key ${JSON.stringify(file)} is not a P-256 key. Move the file away; setup then makes a new key`,
  ]);
}

function describeKey(file: string, privateKey: KeyObject, isNew: boolean): SetupKey {
  const { kid, publicJwk } = publicJwkOf(privateKey);
  return { file, privateKey, kid, publicJwk, isNew };
}

/** The public half, as Okta's console takes it. */
function publicJwkOf(privateKey: KeyObject): Pick<SetupKey, "kid" | "publicJwk"> {
  const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: "jwk" });
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { kid, publicJwk: JSON.stringify({ kty, crv, x, y, kid, use: "sig", alg: "ES256" }) };
}
