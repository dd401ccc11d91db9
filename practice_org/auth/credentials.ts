import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  type CryptoKey,
  type JWK,
} from "jose";
import { makeDirectory } from "../../command_line/files.ts";
import { shellWord } from "../../shared/text.ts";

/** The key of the service application, as the provider's console shows a new one: PEM and JWK. */
export interface PracticeKeyPair {
  readonly privateKeyPem: string;
  /** With its `kid`. */
  readonly privateKeyJwk: JWK;
  readonly publicKeyJwk: JWK;
}

/** A service application with its key. */
export interface ServiceClient extends Pick<PracticeKeyPair, "privateKeyPem" | "privateKeyJwk"> {
  readonly clientId: string;
}

const privateKeyFileName = "practice_org_private_key.pem";
/** Name of the file in which `practice-org change` finds the org. */
export const addressFileName = "address";
/** The key of Terraform's service application, of an org that takes writes. */
export const terraformKeyFileName = "practice_org_terraform_key.pem";

export async function createKeyPair(): Promise<PracticeKeyPair> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return describe(privateKey);
}

/** The key pair kept in `directory`, so that a restarted org still knows its client; a new one when none exists yet. */
export async function loadKeyPair(directory: string, fileName = privateKeyFileName): Promise<PracticeKeyPair> {
  const file = join(directory, fileName);
  let pem: string;
  try {
    pem = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const keys = await createKeyPair();
    await writePrivateKey(keys.privateKeyPem, { directory, fileName });
    return keys;
  }
  try {
    return await describe(await importPKCS8(pem, "RS256", { extractable: true }));
  } catch (cause) {
    throw new Error(`Cannot use "${file}": it is no RSA private key in PKCS#8 PEM; delete it to get a new one`, {
      cause,
    });
  }
}

/** Writes the key for its owner only and returns the file. A key that is already there is replaced as a whole. */
async function writePrivateKey(
  privateKeyPem: string,
  { directory, fileName }: { readonly directory: string; readonly fileName: string },
): Promise<string> {
  await makeDirectory(directory, 0o700);
  const file = join(directory, fileName);
  // The mode applies only to a file that is created: hence a new draft, never an existing file.
  const draft = `${file}.${randomUUID()}.new`;
  await writeFile(draft, privateKeyPem, { mode: 0o600, flag: "wx" });
  await rename(draft, file);
  return file;
}

async function describe(privateKey: CryptoKey): Promise<PracticeKeyPair> {
  const jwk = await exportJWK(privateKey);
  const { kty, n, e } = jwk;
  if (kty === undefined || n === undefined || e === undefined)
    throw new TypeError("Cannot describe the key: it is no RSA key");
  const publicKeyJwk: JWK = { kty, n, e };
  const kid = await calculateJwkThumbprint(publicKeyJwk);
  return {
    privateKeyPem: await exportPKCS8(privateKey),
    privateKeyJwk: { ...jwk, kid },
    publicKeyJwk: { ...publicKeyJwk, kid },
  };
}

export interface PublishedCredentials {
  readonly privateKeyFile: string;
  /** Lines of a shell, `IDP_ORG_URL=…`: all that a scan of the org needs, and what Terraform needs where it may write. */
  readonly environmentLines: readonly string[];
}

/** Writes the clients' keys into `directory`, readable by their owner only; gives what a scan of the org needs. */
export async function publishCredentials(
  org: ServiceClient & { readonly url: string; readonly terraform: ServiceClient | null },
  directory: string,
): Promise<PublishedCredentials> {
  const publish = async (pem: string, fileName: string) => resolve(await writePrivateKey(pem, { directory, fileName }));
  const privateKeyFile = await publish(org.privateKeyPem, privateKeyFileName);
  await writeFile(join(directory, addressFileName), `${org.url}\n`);
  const { terraform } = org;
  return {
    privateKeyFile,
    environmentLines: [
      `IDP_ORG_URL=${org.url}`,
      `IDP_CLIENT_ID=${org.clientId}`,
      `IDP_PRIVATE_KEY_FILE=${shellWord(privateKeyFile)}`,
      ...(terraform === null
        ? []
        : [
            `OKTA_API_CLIENT_ID=${terraform.clientId}`,
            `OKTA_API_PRIVATE_KEY=${shellWord(await publish(terraform.privateKeyPem, terraformKeyFileName))}`,
            `OKTA_API_PRIVATE_KEY_ID=${String(terraform.privateKeyJwk.kid)}`,
          ]),
    ],
  };
}
