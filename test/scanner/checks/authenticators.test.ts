import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { evaluate, outcomeOf } from "../../support/artifact_builders.ts";

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
  test.each<[status: unknown, outcome: string]>([
    ["active", "PASS"],
    [null, "FAIL"],
  ])("the status %j is %s", (status, outcome) => {
    const card = { id: "aut9", key: "smart_card_idp", name: "Smart Card", status };
    expect(outcomeOf(judge(smartCard, [email, card]))).toBe(outcome);
  });

  const card = (status: unknown, name = "Card") => ({ id: `aut${name}`, key: "smart_card_idp", name, status });
  const noEntry = null as unknown as ReturnType<typeof card>;

  test.each<[others: JsonList, outcome: string]>([
    [[card("ACTIVE"), card("INACTIVE", "Old")], "PASS"],
    [[card("ACTIVE"), card("PENDING", "Old")], "PASS"],
    [[noEntry, card("ACTIVE")], "PASS"],
    [[card("INACTIVE"), card("PENDING", "Old")], "unreadable"],
  ])("one active in %j is enough: %s", (authenticators, outcome) => {
    const result = judge(smartCard, authenticators);
    expect(outcomeOf(result)).toBe(outcome);
    if (authenticators[1]?.["status"] === "INACTIVE" && outcome === "PASS")
      expect(result.detail).toMatch(/not active are "Old"/);
  });

  test.each([[[email]]])("absent from %j FAILs for the org", (authenticators) => {
    expect(judge(smartCard, authenticators).findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });
});

describe(oktaVerify, () => {
  test.each<[value: unknown, outcome: string]>([
    ["REQUIRED", "PASS"],
    ["OPTIONAL", "FAIL"],
  ])("FIPS %j is %s", (value, outcome) => {
    expect(outcomeOf(judge(oktaVerify, [fips(value)]))).toBe(outcome);
  });

  test("settings that are absent FAIL", () => {
    expect(judge(oktaVerify, [{ ...fips("REQUIRED"), settings: undefined }]).status).toBe("FAIL");
    expect(judge(oktaVerify, [{ ...fips("REQUIRED"), settings: { compliance: null } }]).status).toBe("FAIL");
  });
});

test.each([smartCard, oktaVerify])("%s: a list that broke off proves no absence", (check) => {
  const result = evaluate(check, { authenticators: missing("provider_error", "page 2 failed", [email]) });
  expect(outcomeOf(result)).toBe("provider_error");
  const active = missing("provider_error", "page 2 failed", [
    fips("REQUIRED"),
    { id: "aut9", key: "smart_card_idp", status: "ACTIVE" },
  ]);
  expect(outcomeOf(evaluate(check, { authenticators: active }))).toBe("provider_error");
});

function judge(check: string, authenticators: JsonList) {
  return evaluate(check, { authenticators: obtained(authenticators) });
}
