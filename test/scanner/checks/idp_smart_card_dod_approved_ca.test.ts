import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type TrustedCertificate } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { namesApprovedIssuer } from "../../../scanner/checks/parsing/distinguished_name.ts";
import { aSmartCardIdp, dodCertificate, evaluate, outcomeOf, set } from "../../support/artifact_builders.ts";

const check = "idp_smart_card_dod_approved_ca";
const issuer = "protocol.credentials.trust.issuer";

describe("namesApprovedIssuer", () => {
  test.each<[name: string, isApproved: boolean]>([
    ["/C=US/O=U.S. Government/OU=DoD/OU=PKI/CN=DOD ID CA-59", true],
    ["OU=ECA,O=U.S. Government,C=US", true],
    ["OU=DoD PKI", true],
    ["OU=ECAS", false],
    ["CN=Fake\\, OU=DoD, O=Example", false],
  ])("%j: %s", (name, isApproved) => {
    expect(namesApprovedIssuer(name, ["OU=DoD", "OU=ECA"])).toBe(isApproved);
  });

  test("a whole name as the pattern needs each of its parts", () => {
    const pattern = ["CN=Agency CA 1, O=Agency"];
    expect(namesApprovedIssuer("C=US, O=Agency, CN=Agency CA 1", pattern)).toBe(true);
    expect(namesApprovedIssuer("C=US, O=Agency, CN=Agency CA 11", pattern)).toBe(false);
    expect(namesApprovedIssuer("CN=Agency CA 1", pattern)).toBe(false);
  });

  test("an empty list approves no issuer", () => {
    expect(namesApprovedIssuer("OU=DoD", [])).toBe(false);
    expect(namesApprovedIssuer("OU=DoD", [""])).toBe(false);
  });
});

describe("an identity provider", () => {
  test.each<[path: string, value: unknown, outcome: string]>([
    ["status", "INACTIVE", "FAIL"],
    ["status", null, "unreadable"],
    ["status", "RESTING", "unreadable"],
    [issuer, "CN=ECA Root CA 4, OU=ECA, O=U.S. Government, C=US", "PASS"],
    ["protocol", null, "needs_review"],
  ])("with %s = %j is %s", (path, value, outcome) => {
    expect(outcomeOf(judge(set(aSmartCardIdp(), path, value)))).toBe(outcome);
  });

  test("of another type is not a smart card", () => {
    const result = judge(aSmartCardIdp({ type: "OIDC" }));
    expect(result.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test.each([
    ["X509_NEXT", "unreadable"],
    [7, "unreadable"],
    [undefined, "PASS"],
  ])("of the type %j is %s", (type, outcome) => {
    expect(outcomeOf(judge(set(aSmartCardIdp(), "type", type)))).toBe(outcome);
  });

  test("that is inactive is left out and named", () => {
    const inactive = {
      idp: aSmartCardIdp({ id: "0oaOld", name: "Old", status: "INACTIVE" }),
      certificate: obtained(null),
    };
    const active = { idp: aSmartCardIdp(), certificate: obtained(dodCertificate) };
    const result = evaluate(check, { smart_card_idps: obtained([inactive, active]) });
    expect(result.findings).toHaveLength(1);
    expect(result).toMatchObject({ automated: "PASS", detail: expect.stringContaining('left out: "Old"') as string });
    const alone = evaluate(check, { smart_card_idps: obtained([inactive]) });
    expect(alone.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test("none FAILs for the org", () => {
    const result = evaluate(check, { smart_card_idps: obtained([]) });
    expect(result.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });
});

describe("its certificate", () => {
  const at = "2026-11-21T12:00:00.000Z";
  const certificate = (changes: Partial<TrustedCertificate>) => obtained({ ...dodCertificate, ...changes });

  test.each<[what: string, evidence: Evidence<TrustedCertificate | null>, outcome: string]>([
    ["was refused", missing("missing_role", "403"), "missing_role"],
    ["comes from another issuer", certificate({ issuer: "CN=Example" }), "needs_review"],
    ["starts now", certificate({ valid_from: at }), "PASS"],
    ["starts later", certificate({ valid_from: "2026-11-21T12:00:00.001Z" }), "needs_review"],
    ["ends now", certificate({ valid_to: at }), "PASS"],
    ["has ended", certificate({ valid_to: "2026-11-21T11:59:59.999Z" }), "needs_review"],
  ])("$0: $2", (_, evidence, outcome) => {
    expect(outcomeOf(judge(aSmartCardIdp(), evidence))).toBe(outcome);
  });

  test("in its PASS leaves the whole chain to a person", () => {
    const result = judge(aSmartCardIdp());
    expect(result.automated).toBe("PASS");
    expect(result.findings[0]?.detail).toMatch(/Compare the fingerprint of every certificate of the chain/);
  });

  test("and those that follow it are shown by subject, issuer, serial number and SHA-256, and judged", () => {
    const root = { ...dodCertificate, subject: "CN=DoD Root CA 3", serial: "01", sha256: "cd".repeat(32) };
    const result = judge(aSmartCardIdp(), certificate({ chain: [root] }));
    expect(outcomeOf(result)).toBe("PASS");
    for (const { subject, issuer: from, serial, sha256 } of [dodCertificate, root])
      expect(result.detail).toContain(
        `certificate: subject "${subject}", issuer "${from}", serial number ${serial}, SHA-256 ${sha256}`,
      );
    const old = { ...root, valid_to: "2026-01-01T00:00:00.000Z" };
    expect(outcomeOf(judge(aSmartCardIdp(), certificate({ chain: [old] })))).toBe("needs_review");
  });

  test.each([
    certificate({ subject: "CN=DOD JITC ID CA-59, OU=PKI, OU=DoD" }),
    certificate({ issuer: "CN=DoD JITC Root CA 3, OU=PKI, OU=DoD" }),
  ])("of a test authority is for a person: %j", (evidence) => {
    const result = judge(aSmartCardIdp(), evidence);
    expect([result.reason, result.automated]).toEqual(["needs_review", null]);
    expect(result.detail).toContain("is a test authority (JITC)");
  });
});

test.each([[set(aSmartCardIdp(), issuer, " ")], [aSmartCardIdp()]])("%j: a finding has no empty quotation", (idp) => {
  const result = judge(idp, obtained({ ...dodCertificate, issuer: "" }));
  expect(result.findings[0]?.detail).not.toMatch(/"\s*"/);
});

function judge(idp: JsonObject, certificate: Evidence<TrustedCertificate | null> = obtained(dodCertificate)) {
  return evaluate(check, { smart_card_idps: obtained([{ idp, certificate }]) });
}
