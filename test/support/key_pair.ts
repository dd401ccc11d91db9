import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";

/** Writes a new P-256 key pair as PEM: PKCS#8 to `file`, SPKI to `file.pub`. */
export async function writeKeyPair(file: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  await writeFile(`${file}.pub`, publicKey.export({ type: "spki", format: "pem" }));
}
