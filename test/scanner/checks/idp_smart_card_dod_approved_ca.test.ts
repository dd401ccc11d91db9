import { describe, expect, test } from "vitest";
import { obtained, type TrustedCertificate } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { namesApprovedIssuer } from "../../../scanner/checks/idp_smart_card_dod_approved_ca.ts";
import { aSmartCardIdp, dodCertificate, evaluate, outcomeOf, set } from "../../support/artifact_builders.ts";

const issuer = "protocol.credentials.trust.issuer";

function judge(idps: readonly JsonObject[], certificate: Partial<TrustedCertificate> = {}) {
  const entries = idps.map((idp) => ({ idp, certificate: obtained({ ...dodCertificate, ...certificate }) }));
  return evaluate("idp_smart_card_dod_approved_ca", { smart_card_idps: obtained(entries) });
}

test.each<[name: string, patterns: readonly string[], isApproved: boolean]>([
  ["/C=US/O=U.S. Government/OU=DoD/OU=PKI/CN=DOD ID CA-59", ["OU=DoD", "OU=ECA"], true],
  ["OU=DoD PKI", ["OU=DoD"], true],
  ["OU=ECAS", ["OU=ECA"], false],
  ["CN=Fake\\, OU=DoD, O=Example", ["OU=DoD"], false],
  ["C=US, O=Agency, CN=Agency CA 1", ["CN=Agency CA 1, O=Agency"], true],
  ["C=US, O=Agency, CN=Agency CA 11", ["CN=Agency CA 1, O=Agency"], false],
  ["CN=Agency CA 1", ["CN=Agency CA 1, O=Agency"], false],
  ["OU=DoD", [], false],
  ["OU=DoD", [""], false],
])("the name %j is one of %j: %s", (name, patterns, isApproved) => {
  expect(namesApprovedIssuer(name, patterns)).toBe(isApproved);
});

describe("an identity provider", () => {
  test.each<[path: string, value: unknown, outcome: string]>([
    ["status", "INACTIVE", "FAIL"],
    ["status", null, "unreadable"],
    [issuer, "CN=ECA Root CA 4, OU=ECA, O=U.S. Government, C=US", "PASS"],
    ["protocol", null, "needs_review"],
    ["type", "OIDC", "FAIL"],
    ["type", "X509_NEXT", "unreadable"],
    ["type", undefined, "PASS"],
  ])("with %s = %j is %s", (path, value, outcome) => {
    expect(outcomeOf(judge([set(aSmartCardIdp(), path, value)]))).toBe(outcome);
  });

  test("an inactive identity provider is left out and named; an org without an active one FAILs", () => {
    const inactive = aSmartCardIdp({ id: "0oaOld", name: "Old", status: "INACTIVE" });
    const result = judge([inactive, aSmartCardIdp()]);
    expect(result.findings).toHaveLength(1);
    expect(result).toMatchObject({ automated: "PASS", detail: expect.stringContaining('left out: "Old"') as string });
    for (const none of [judge([inactive]), judge([])])
      expect(none.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });
});

describe("its certificate", () => {
  const at = "2026-11-21T12:00:00.000Z";

  test.each<[what: string, certificate: Partial<TrustedCertificate>, outcome: string]>([
    ["comes from another issuer", { issuer: "CN=Example" }, "needs_review"],
    ["starts now", { valid_from: at }, "PASS"],
    ["starts later", { valid_from: "2026-11-21T12:00:00.001Z" }, "needs_review"],
    ["ends now", { valid_to: at }, "PASS"],
    ["has ended", { valid_to: "2026-11-21T11:59:59.999Z" }, "needs_review"],
  ])("$0: $2", (_, certificate, outcome) => {
    expect(outcomeOf(judge([aSmartCardIdp()], certificate))).toBe(outcome);
  });

  test("a certificate and its chain are shown by subject, issuer, serial number and SHA-256, judged, and left to a person", () => {
    const root = { ...dodCertificate, subject: "CN=DoD Root CA 3", serial: "01", sha256: "cd".repeat(32) };
    const result = judge([aSmartCardIdp()], { chain: [...Array<typeof root>(24).fill(dodCertificate), root] });
    expect(result.automated).toBe("PASS");
    for (const { subject, issuer: from, serial, sha256 } of [dodCertificate, root])
      expect(result.detail).toContain(
        `certificate: subject "${subject}", issuer "${from}", serial number ${serial}, SHA-256 ${sha256}`,
      );
    expect(result.findings[0]?.detail).toMatch(/Compare the fingerprint of every certificate of the chain/);
    const old = { ...root, valid_to: "2026-01-01T00:00:00.000Z" };
    expect(outcomeOf(judge([aSmartCardIdp()], { chain: [old] }))).toBe("needs_review");
  });

  test.each([{ subject: "CN=DOD JITC ID CA-59, OU=PKI, OU=DoD" }, { issuer: "CN=DoD JITC Root CA 3, OU=PKI, OU=DoD" }])(
    "of a test authority is for a person: %j",
    (certificate) => {
      const result = judge([aSmartCardIdp()], certificate);
      expect([result.reason, result.automated]).toEqual(["needs_review", null]);
      expect(result.detail).toContain("is a test authority (JITC)");
    },
  );

  test("a certificate without an issuer leaves no empty quotation in the finding", () => {
    for (const idp of [set(aSmartCardIdp(), issuer, " "), aSmartCardIdp()])
      expect(judge([idp], { issuer: "" }).detail).not.toMatch(/"\s*"/);
  });
});
