import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type TrustedCertificate } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { namesApprovedIssuer } from "../../../scanner/checks/parsing/distinguished_name.ts";
import { aSmartCardIdp, dodCertificate, evaluate, set } from "../../support/artifact_builders.ts";

const check = "idp_smart_card_dod_approved_ca";
const issuer = "protocol.credentials.trust.issuer";

describe("namesApprovedIssuer", () => {
  test.each<[name: string, isApproved: boolean]>([
    ["CN=DOD ID CA-59, OU=PKI, OU=DoD, O=U.S. Government, C=US", true],
    ["C=US\nO=U.S. Government\nOU=DoD\nOU=PKI\nCN=DOD ID CA-59", true],
    ["/C=US/O=U.S. Government/OU=DoD/OU=PKI/CN=DOD ID CA-59", true],
    ["OU=ECA,O=U.S. Government,C=US", true],
    ["ou=dod", true],
    ["OU = DoD, C = US", true],
    ["CN=x+OU=DoD", true],
    ["OU=DoD PKI", true],
    ["OU=DoDEA, C=US", false],
    ["OU=ECAS", false],
    ["OU=NotDoD", false],
    ["OU=DoD-like", false],
    ["CN=Not OU=DoD, O=Example", false],
    ['CN="Fake, OU=DoD", O=Example', false],
    ["CN=Fake\\, OU=DoD, O=Example", false],
    ["XOU=DoD", false],
    ["O=DoD", false],
    ["", false],
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
  test.each<[path: string, value: unknown, status: string, reason: string | null]>([
    ["status", "ACTIVE", "PASS", null],
    ["status", "active", "PASS", null],
    ["status", "INACTIVE", "FAIL", null],
    ["status", undefined, "MANUAL", "unreadable"],
    ["status", null, "MANUAL", "unreadable"],
    ["status", "RESTING", "MANUAL", "unreadable"],
    ["status", 1, "MANUAL", "unreadable"],
    [issuer, "CN=Test Smart Card, OU=Test OU, O=Test O, C=US", "MANUAL", "needs_review"],
    [issuer, "CN=ECA Root CA 4, OU=ECA, O=U.S. Government, C=US", "PASS", null],
    [issuer, undefined, "MANUAL", "needs_review"],
    [issuer, "", "MANUAL", "needs_review"],
    [issuer, {}, "MANUAL", "unreadable"],
    ["protocol", null, "MANUAL", "needs_review"],
  ])("with %s = %j is %s", (path, value, status, reason) => {
    expect(judge(set(aSmartCardIdp(), path, value))).toMatchObject({ status, reason });
  });

  test("that is inactive FAILs whatever it trusts", () => {
    const idp = set(aSmartCardIdp({ status: "INACTIVE" }), issuer, "CN=Example");
    expect(judge(idp).status).toBe("FAIL");
  });

  test("of another type is not a smart card", () => {
    const result = judge(aSmartCardIdp({ type: "OIDC" }));
    expect(result.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test.each([
    ["x509", "PASS", null],
    ["X509_NEXT", "MANUAL", "unreadable"],
    [7, "MANUAL", "unreadable"],
    [undefined, "PASS", null],
  ])("of the type %j is %s", (type, status, reason) => {
    expect(judge(set(aSmartCardIdp(), "type", type))).toMatchObject({ status, reason });
  });

  test("none FAILs for the org", () => {
    const result = evaluate(check, { smart_card_idps: obtained([]) });
    expect(result.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test("from a list that broke off can FAIL, and never PASS", () => {
    const item = (idp: JsonObject) => [{ idp, certificate: obtained(dodCertificate) }];
    const partial = (idp: JsonObject) => missing("provider_error", "page 2 failed", item(idp));
    expect(evaluate(check, { smart_card_idps: partial(aSmartCardIdp({ status: "INACTIVE" })) }).status).toBe("FAIL");
    expect(evaluate(check, { smart_card_idps: partial(aSmartCardIdp()) }).status).toBe("MANUAL");
  });
});

describe("its certificate", () => {
  const at = "2026-11-21T12:00:00.000Z";
  const certificate = (changes: Partial<TrustedCertificate>) => obtained({ ...dodCertificate, ...changes });

  test.each<[what: string, evidence: Evidence<TrustedCertificate | null>, status: string, reason: string | null]>([
    ["cannot be read", obtained(null), "MANUAL", "unreadable"],
    ["is gone", missing("provider_error", "404"), "MANUAL", "provider_error"],
    ["was refused", missing("missing_role", "403"), "MANUAL", "missing_role"],
    ["names no issuer", certificate({ issuer: "" }), "MANUAL", "needs_review"],
    ["comes from another issuer", certificate({ issuer: "CN=Example" }), "MANUAL", "needs_review"],
    ["starts now", certificate({ valid_from: at }), "PASS", null],
    ["starts later", certificate({ valid_from: "2026-11-21T12:00:00.001Z" }), "MANUAL", "needs_review"],
    ["ends now", certificate({ valid_to: at }), "PASS", null],
    ["has ended", certificate({ valid_to: "2026-11-21T11:59:59.999Z" }), "MANUAL", "needs_review"],
  ])("%s: %s", (_, evidence, status, reason) => {
    expect(judge(aSmartCardIdp(), evidence)).toMatchObject({ status, reason });
  });

  test("in its PASS leaves the whole chain to a person", () => {
    const result = judge(aSmartCardIdp());
    expect(result.coverage).toBe("partial");
    expect(result.findings[0]?.coverage_reason).toMatch(/every certificate of the chain/);
  });
});

test.each([[set(aSmartCardIdp(), issuer, "")], [set(aSmartCardIdp(), issuer, " ")], [aSmartCardIdp()]])(
  "%j: a finding has no empty quotation",
  (idp) => {
    const result = judge(idp, obtained({ ...dodCertificate, issuer: "" }));
    expect(result.findings[0]?.detail).not.toMatch(/"\s*"/);
  },
);

test("a configured list replaces the DOD's", () => {
  const agency = set(aSmartCardIdp(), issuer, "CN=Agency CA, O=Agency");
  const approvedIssuers = ["O=Agency"];
  const certificate = obtained({ ...dodCertificate, issuer: "CN=Agency CA, O=Agency" });
  const item = (idp: JsonObject) => ({ smart_card_idps: obtained([{ idp, certificate }]) });
  expect(evaluate(check, item(agency), { approvedIssuers }).status).toBe("PASS");
  expect(evaluate(check, item(aSmartCardIdp()), { approvedIssuers }).status).toBe("MANUAL");
});

function judge(idp: JsonObject, certificate: Evidence<TrustedCertificate | null> = obtained(dodCertificate)) {
  return evaluate(check, { smart_card_idps: obtained([{ idp, certificate }]) });
}
