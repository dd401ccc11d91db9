import { resolve } from "node:path";
import { writePrivateKey } from "./key_pair.ts";

export interface PublishedCredentials {
  readonly privateKeyFile: string;
  /** Lines of a shell, `IDP_ORG_URL=…`: all that a scan of the org needs. */
  readonly environmentLines: readonly string[];
}

/** Makes known how to scan an org: writes its client's key into `directory`, readable by its owner only. */
export async function publishCredentials(
  org: { readonly url: string; readonly clientId: string; readonly privateKeyPem: string },
  directory: string,
): Promise<PublishedCredentials> {
  const privateKeyFile = resolve(await writePrivateKey(org.privateKeyPem, directory));
  return {
    privateKeyFile,
    environmentLines: [
      `IDP_ORG_URL=${org.url}`,
      `IDP_CLIENT_ID=${org.clientId}`,
      `IDP_PRIVATE_KEY_FILE=${quoted(privateKeyFile)}`,
    ],
  };
}

/** So that the line can be pasted into a shell, whatever the directory is called. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
