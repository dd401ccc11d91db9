import { X509Certificate } from "node:crypto";
import type { JsonObject } from "../../shared/json.ts";
import { cleanDistinguishedName } from "../okta/provider_text.ts";
import type { CertificateFields, TrustedCertificate } from "./artifacts.ts";

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
