import type { JsonObject } from "../../shared/json.ts";
import { X509Certificate } from "node:crypto";
import { lifecycleLink, link, oktaId } from "./ids_and_links.ts";
import type { Resource, Site } from "./org_contents.ts";

const created = "2020-01-07T00:19:27.000Z";
const lastUpdated = "2026-01-07T00:19:27.000Z";

/** Made once with openssl for this org only (the private keys were deleted), valid 2020–2099: DER in base64, as `x5c` carries it. */
const certificates = {
  /** Issued by `OU=DoD`, as the STIG asks. */
  dod: "MIICIDCCAcagAwIBAgICEKgwCgYIKoZIzj0EAwIwZjELMAkGA1UEBhMCVVMxGDAWBgNVBAoMD1UuUy4gR292ZXJubWVudDEMMAoGA1UECwwDRG9EMQwwCgYDVQQLDANQS0kxITAfBgNVBAMMGERvRCBSb290IENBIDMgKHByYWN0aWNlKTAgFw0yMDAxMDEwMDAwMDBaGA8yMDk5MTIzMTIzNTk1OVowZTELMAkGA1UEBhMCVVMxGDAWBgNVBAoMD1UuUy4gR292ZXJubWVudDEMMAoGA1UECwwDRG9EMQwwCgYDVQQLDANQS0kxIDAeBgNVBAMMF0RPRCBJRCBDQS01OSAocHJhY3RpY2UpMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEI5+nB96Z4N7KSMCCXeU5D12nzB08SQ6rg4MzTnvzZwTtIvJ4oU0m9Iit2VoIQPS18YL5mAE9FnSAt6joY4qFKqNjMGEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFOiVqGPVoDFNl1TsOlLPF2tK1ZCsMB8GA1UdIwQYMBaAFO/vs8lwPElUVUhU4LCL8m9E5kt7MAoGCCqGSM49BAMCA0gAMEUCIF01tgVadAwZHznTMJFCTca2xkvS4GYhx8fj5s9eQPoEAiEArdpOEzaXsV5ktvq8XPGlJ6ZAIPt1T2LrAjm5/rEMWzs=",
  /** Issued by a test authority of the DoD (JITC), whose names hold `OU=DoD` as well. */
  jitc: "MIICKTCCAdCgAwIBAgICEKowCgYIKoZIzj0EAwIwazELMAkGA1UEBhMCVVMxGDAWBgNVBAoMD1UuUy4gR292ZXJubWVudDEMMAoGA1UECwwDRG9EMQwwCgYDVQQLDANQS0kxJjAkBgNVBAMMHURvRCBKSVRDIFJvb3QgQ0EgMyAocHJhY3RpY2UpMCAXDTIwMDEwMTAwMDAwMFoYDzIwOTkxMjMxMjM1OTU5WjBqMQswCQYDVQQGEwJVUzEYMBYGA1UECgwPVS5TLiBHb3Zlcm5tZW50MQwwCgYDVQQLDANEb0QxDDAKBgNVBAsMA1BLSTElMCMGA1UEAwwcRE9EIEpJVEMgSUQgQ0EtNTkgKHByYWN0aWNlKTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABORiWvfD4pT4VAe+dk5MbWuhqVU4JBehYbqiAGFFzayttqstnZMihRDAIBIK0mGVqUkA83x0MzaiUguThDhWNGujYzBhMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBQ191QX+69BmHD/l/WJynpDMxvNqjAfBgNVHSMEGDAWgBQrmb8ifV44uzQfQDGUWPwOfH/uFTAKBggqhkjOPQQDAgNHADBEAiB/+j+8ghhOGUbTFf5CBn5LsnunubKFvdZlzg+N12doJAIgbP6aWibtW9KSSvwNZ1RdNjOq6ee+q0XsrQWkRVaFwcw=",
  /** A company's own certificate authority, which no DoD list names. */
  company:
    "MIIB4DCCAYagAwIBAgICEKkwCgYIKoZIzj0EAwIwVjELMAkGA1UEBhMCVVMxFTATBgNVBAoMDEV4YW1wbGUgQ29ycDELMAkGA1UECwwCSVQxIzAhBgNVBAMMGkV4YW1wbGUgQ29ycCBTbWFydCBDYXJkIENBMCAXDTIwMDEwMTAwMDAwMFoYDzIwOTkxMjMxMjM1OTU5WjBWMQswCQYDVQQGEwJVUzEVMBMGA1UECgwMRXhhbXBsZSBDb3JwMQswCQYDVQQLDAJJVDEjMCEGA1UEAwwaRXhhbXBsZSBDb3JwIFNtYXJ0IENhcmQgQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS1B3lzzUS5N/tFRaZGUd30nYIHqlOThDFUoprrqJRz3oSPZmsZgc3mFJYJw5u036ckMFbzRcirl6x56b3m908ho0IwQDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUGO9wI+eWqGkxIWq3fbJidrJjAewwCgYIKoZIzj0EAwIDSAAwRQIgBxvyJJN6uajSjcarnfzbG5ccqake1pMWsRU0/ON6lpECIQCc7OD6OLcM6Qfv5H62ESJEaAtYDimb58lkMNAnYf8fsA==",
} as const;

export interface SmartCardIdp {
  readonly identityProvider: Resource;
  readonly key: JsonObject & { readonly kid: string };
}

/** A smart card identity provider and the certificate that it trusts. */
export function smartCardIdp(
  site: Site,
  spec: { readonly name: string; readonly issuedBy: keyof typeof certificates },
): SmartCardIdp {
  const id = oktaId("0oa", `X509 ${spec.name}`);
  const href = `${site.url}/api/v1/idps/${id}`;
  const encoded = certificates[spec.issuedBy];
  const certificate = new X509Certificate(Buffer.from(encoded, "base64"));
  const kid = keyId(certificate);
  const keyHref = `${site.url}/api/v1/idps/credentials/keys/${kid}`;
  const identityProvider: Resource = {
    id,
    type: "X509",
    name: spec.name,
    status: "ACTIVE",
    created,
    lastUpdated,
    properties: { additionalAmr: ["sc", "hwk", "pin", "mfa"] },
    protocol: {
      type: "MTLS",
      endpoints: { sso: { url: `${site.url}/login/cert` } },
      credentials: {
        trust: {
          issuer: distinguishedName(certificate.issuer),
          audience: null,
          kid,
          revocation: "CRL",
          revocationCacheLifetime: 2880,
        },
      },
    },
    policy: {
      provisioning: { action: "DISABLED", profileMaster: false, groups: null },
      subject: {
        userNameTemplate: { template: "idpuser.subjectAltNameUpn" },
        filter: null,
        matchType: "USERNAME",
        matchAttribute: null,
      },
      mapAMRClaims: false,
      trustClaims: false,
      maxClockSkew: 0,
    },
    _links: {
      ...lifecycleLink(href, "ACTIVE"),
      users: link(`${href}/users`, "GET"),
      keys: link(keyHref, "GET"),
    },
  };
  return { identityProvider, key: keyObject(kid, encoded, certificate) };
}

function keyObject(kid: string, encoded: string, certificate: X509Certificate): SmartCardIdp["key"] {
  const { x, y, crv } = certificate.publicKey.export({ format: "jwk" });
  return {
    kty: "EC",
    created,
    lastUpdated,
    expiresAt: new Date(certificate.validTo).toISOString(),
    alg: "EC",
    kid,
    use: "sig",
    x5c: [encoded],
    "x5t#S256": Buffer.from(certificate.fingerprint256.replaceAll(":", ""), "hex").toString("base64url"),
    x,
    y,
    crv,
  };
}

/** The provider's key ids are UUIDs; this one is taken from the certificate, so that it is the same at every start. */
function keyId(certificate: X509Certificate): string {
  const hex = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** Node writes one attribute a line, outermost first; the provider one line, `CN=…, OU=…, O=…, C=US`. */
function distinguishedName(lines: string): string {
  return lines.split("\n").toReversed().join(", ");
}
