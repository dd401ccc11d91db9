import type { JsonObject } from "../../../shared/json.ts";
import { X509Certificate } from "node:crypto";
import { obtained, type CertificateFields, type SmartCardIdp, type TrustedCertificate } from "../artifacts.ts";
import { memoize } from "../../checks/evaluating/memoize.ts";
import { readText } from "../../checks/parsing/fields.ts";
import type { IdpClient } from "../../okta/idp_client.ts";
import { artifactTable, partPath, partPaths } from "../artifact_table.ts";
import { cleanDistinguishedName } from "../../okta/provider_text.ts";
import { mapEntries, mapEvidence, pathSegment, type Collector } from "./collector.ts";

export const collectSmartCardIdps: Collector<"smart_card_idps"> = async ({ client }) => {
  const certificateOf = createCertificates(client);
  return mapEntries(await client.getList(artifactTable.smart_card_idps.request), async (idp) => ({
    idp,
    certificate: await certificateOf(kidOf(idp)),
  }));
};

/** The certificate of a key, fetched once however many identity providers trust it. */
function createCertificates(client: IdpClient): (kid: string | null) => Promise<SmartCardIdp["certificate"]> {
  return memoize(async (kid): Promise<SmartCardIdp["certificate"]> => {
    const segment = pathSegment(kid);
    if (segment === null) return obtained(null);
    const key = await client.getObject({ path: partPath(partPaths.idpKey, segment), scope: "idps.read" });
    return mapEvidence(key, readCertificate);
  });
}

function kidOf(idp: JsonObject): string | null {
  const kid = readText(idp, "protocol.credentials.trust.kid");
  return kid.kind === "value" ? kid.value : null;
}

/** Null where the key holds no certificate, or one that cannot be read. */
export function readCertificate(key: JsonObject): TrustedCertificate | null {
  const encoded: readonly unknown[] = Array.isArray(key["x5c"]) ? key["x5c"] : [];
  const [x5c] = encoded;
  const [first = null, ...chain] = encoded.map(fieldsOf);
  if (typeof x5c !== "string" || first === null) return null;
  const readable = chain.filter((fields) => fields !== null);
  return readable.length === chain.length ? { ...first, chain: readable, x5c } : null;
}

function fieldsOf(x5c: unknown): CertificateFields | null {
  if (typeof x5c !== "string") return null;
  try {
    // Some answers contain line breaks within the base64.
    const certificate = new X509Certificate(Buffer.from(x5c.replaceAll(/\s+/g, ""), "base64"));
    return {
      subject: cleanDistinguishedName(certificate.subject),
      issuer: cleanDistinguishedName(certificate.issuer),
      serial: certificate.serialNumber.toLowerCase(),
      sha256: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
      valid_from: certificate.validFromDate.toISOString(),
      valid_to: certificate.validToDate.toISOString(),
    };
  } catch {
    return null;
  }
}
