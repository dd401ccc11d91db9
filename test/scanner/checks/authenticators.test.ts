import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { evaluate } from "../../support/artifact_builders.ts";

const smartCard = "authenticator_smart_card_active";
const oktaVerify = "authenticator_okta_verify_fips_compliant";
const email = { id: "aut0", key: "okta_email", name: "Email", status: "ACTIVE" };
const fips = (value: unknown, status: unknown = "ACTIVE") => ({
  id: "aut1",
  key: "okta_verify",
  name: "Okta Verify",
  status,
  settings: { compliance: { fips: value } },
});

describe(smartCard, () => {
  test.each<[status: unknown, verdict: string, reason: string | null]>([
    ["ACTIVE", "PASS", null],
    ["active", "PASS", null],
    ["INACTIVE", "FAIL", null],
    ["PENDING", "MANUAL", "unreadable"],
    [undefined, "FAIL", null],
    [null, "FAIL", null],
    [1, "MANUAL", "unreadable"],
  ])("the status %j is %s", (status, verdict, reason) => {
    const card = { id: "aut9", key: "smart_card_idp", name: "Smart Card", status };
    expect(judge(smartCard, [email, card])).toMatchObject({ status: verdict, reason });
  });

  const card = (status: unknown, name = "Card") => ({ id: `aut${name}`, key: "smart_card_idp", name, status });
  const noEntry = null as unknown as ReturnType<typeof card>;

  test.each<[others: JsonList, status: string, reason: string | null]>([
    [[card("ACTIVE"), card("INACTIVE", "Old")], "PASS", null],
    [[card("ACTIVE"), card("PENDING", "Old")], "PASS", null],
    [[noEntry, card("ACTIVE")], "PASS", null],
    [[card("INACTIVE"), card("INACTIVE", "Old")], "FAIL", null],
    [[card("INACTIVE"), noEntry], "MANUAL", "unreadable"],
    [[card("INACTIVE"), card("PENDING", "Old")], "MANUAL", "unreadable"],
    [[noEntry], "MANUAL", "unreadable"],
  ])("one active in %j is enough: %s", (authenticators, status, reason) => {
    const result = judge(smartCard, authenticators);
    expect(result).toMatchObject({ status, reason });
    if (authenticators[1]?.["status"] === "INACTIVE" && status === "PASS")
      expect(result.detail).toMatch(/not active are "Old"/);
  });

  test.each([[[]], [[email]]])("absent from %j FAILs for the org", (authenticators) => {
    expect(judge(smartCard, authenticators).findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });
});

describe(oktaVerify, () => {
  test.each<[value: unknown, verdict: string, reason: string | null]>([
    ["REQUIRED", "PASS", null],
    ["OPTIONAL", "FAIL", null],
    [null, "FAIL", null],
    [undefined, "FAIL", null],
    ["WHENEVER", "MANUAL", "unreadable"],
    [true, "MANUAL", "unreadable"],
  ])("FIPS %j is %s", (value, verdict, reason) => {
    expect(judge(oktaVerify, [fips(value)])).toMatchObject({ status: verdict, reason });
  });

  test.each([["INACTIVE"], [undefined]])("with the status %j FAILs whatever its settings", (status) => {
    expect(judge(oktaVerify, [{ ...fips("REQUIRED"), status }]).status).toBe("FAIL");
  });

  test("settings that are absent FAIL", () => {
    expect(judge(oktaVerify, [{ ...fips("REQUIRED"), settings: undefined }]).status).toBe("FAIL");
    expect(judge(oktaVerify, [{ ...fips("REQUIRED"), settings: { compliance: null } }]).status).toBe("FAIL");
  });

  test("absent FAILs for the org", () => {
    expect(judge(oktaVerify, [email]).findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });
});

test.each([smartCard, oktaVerify])("%s: a list that broke off proves no absence", (check) => {
  const result = evaluate(check, { authenticators: missing("provider_error", "page 2 failed", [email]) });
  expect(result).toMatchObject({ status: "MANUAL", reason: "provider_error" });
  const active = missing("provider_error", "page 2 failed", [
    fips("REQUIRED"),
    { id: "aut9", key: "smart_card_idp", status: "ACTIVE" },
  ]);
  expect(evaluate(check, { authenticators: active })).toMatchObject({
    status: "MANUAL",
    reason: "provider_error",
  });
});

function judge(check: string, authenticators: JsonList) {
  return evaluate(check, { authenticators: obtained(authenticators) });
}
