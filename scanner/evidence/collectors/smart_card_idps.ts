import { X509Certificate } from "node:crypto";
import { obtained, type Evidence, type SmartCardIdp, type TrustedCertificate } from "../artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "../../checks/parsing/fields.ts";
import type { IdpClient } from "../../idp/idp_client.ts";
import { cleanDistinguishedName } from "../../idp/provider_text.ts";
import { keeping, mapEvidence, pathSegment, type Collector, evidenceOf } from "./collector.ts";

const scope = "idps.read";
const trust = "protocol.credentials.trust";
const idpFields = ["id", "name", "type", "status", "protocol.type", `${trust}.issuer`, `${trust}.kid`];

export const collectSmartCardIdps: Collector<"smart_card_idps"> = async ({ client }) => {
  const idps = await client.getList({ path: "/api/v1/idps?type=X509&limit=200", scope, keep: keeping(idpFields) });
  const certificates = createCertificates(client);
  return mapEvidence(evidenceOf(idps), (found) =>
    Promise.all(
      found.map(async (idp): Promise<SmartCardIdp> => ({
        idp,
        certificate: await certificates(idp),
      })),
    ),
  );
};

/** The certificate behind an identity provider's key, asked for once however many providers trust it. */
function createCertificates(client: IdpClient): (idp: JsonObject) => Promise<SmartCardIdp["certificate"]> {
  const asked = new Map<string, Promise<SmartCardIdp["certificate"]>>();
  return async (idp) => {
    const kid = readText(idp, `${trust}.kid`);
    const segment = kid.kind === "value" ? pathSegment(kid.value) : null;
    if (segment === null) return obtained(null);
    const running = asked.get(segment) ?? fetchCertificate(client, segment);
    asked.set(segment, running);
    return running;
  };
}

async function fetchCertificate(client: IdpClient, kid: string): Promise<Evidence<TrustedCertificate | null>> {
  const key = await client.getObject({ path: `/api/v1/idps/credentials/keys/${kid}`, scope });
  return mapEvidence(evidenceOf(key), (value) => readCertificate(value));
}

/** Null where the key holds none that can be read. */
export function readCertificate(key: JsonObject): TrustedCertificate | null {
  const chain = key["x5c"];
  const x5c: unknown = Array.isArray(chain) ? chain[0] : null;
  if (typeof x5c !== "string") return null;
  try {
    // Some answers wrap the base64 in the middle of lines.
    const certificate = new X509Certificate(Buffer.from(x5c.replaceAll(/\s+/g, ""), "base64"));
    return {
      subject: cleanDistinguishedName(certificate.subject),
      issuer: cleanDistinguishedName(certificate.issuer),
      valid_from: certificate.validFromDate.toISOString(),
      valid_to: certificate.validToDate.toISOString(),
      x5c,
    };
  } catch {
    return null;
  }
}
