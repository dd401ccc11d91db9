import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { explainWriteError, makeDirectory, readOptionFile } from "../../command_line/files.ts";
import { hasCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { parsePrivateKey, PrivateKeyError } from "../okta/private_key.ts";

const keyFolder = join(".scanstream", "keys");
const maxKeyBytes = 65_536;

/** `acme.okta.com`, or `127.0.0.1_8788` where the address has a port. */
export function hostName(orgUrl: string): string {
  return new URL(orgUrl).host.replaceAll(/[[\]]/g, "").replaceAll(":", "_");
}

/** The P-256 key of an org: the one of an earlier run, else a new one. It is never replaced and never leaves this machine. */
export async function loadSetupKey(orgUrl: string) {
  const file = join(keyFolder, `${hostName(orgUrl)}.pem`);
  const isNew = !existsSync(file);
  if (isNew) await makeKey(file);
  const pem = await readOptionFile({ option: "the key", file, maxBytes: maxKeyBytes }, String);
  return { file, ...parseKey(pem, file), isNew };
}

async function makeKey(file: string): Promise<void> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  try {
    await makeDirectory(keyFolder, 0o700);
    await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  } catch (error) {
    // The next run would take a part of a key for the key.
    if (!hasCode(error, "EEXIST")) await rm(file, { force: true });
    throw new UsageError([explainWriteError(`the key ${JSON.stringify(file)}`, error)]);
  }
}

/** The key with its RFC 7638 thumbprint as `kid`, and the public half as the console takes it: one line of JSON. */
function parseKey(pem: string, file: string) {
  try {
    const parsed = parsePrivateKey(pem);
    if (parsed.key.asymmetricKeyDetails?.namedCurve === "prime256v1") {
      const { kty, crv, x, y } = createPublicKey(parsed.key).export({ format: "jwk" });
      const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
      const publicJwk = JSON.stringify({ kty, crv, x, y, kid, use: "sig", alg: "ES256" });
      return { signingKey: { ...parsed, kid }, publicJwk };
    }
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
  }
  throw new UsageError([
    `The key ${JSON.stringify(file)} is not a P-256 key. Move the file away; setup then makes a new key`,
  ]);
}
