import { describe, expect, test } from "vitest";
import { obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
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
  test.each<[status: unknown, outcome: string]>([[null, "FAIL"]])("the status %j is %s", (status, outcome) => {
    const card = { id: "aut9", key: "smart_card_idp", name: "Smart Card", status };
    expect(outcomeOf(judge(smartCard, [email, card]))).toBe(outcome);
  });

  const card = (status: unknown, name = "Card") => ({ id: `aut${name}`, key: "smart_card_idp", name, status });
  const noEntry = null as unknown as ReturnType<typeof card>;

  test.each<[others: JsonList, outcome: string]>([
    [[card("ACTIVE"), card("INACTIVE", "Old")], "PASS"],
    [[noEntry, card("ACTIVE")], "PASS"],
    [[card("INACTIVE"), card("PENDING", "Old")], "unreadable"],
  ])("one active in %j is enough: %s", (authenticators, outcome) => {
    const result = judge(smartCard, authenticators);
    expect(outcomeOf(result)).toBe(outcome);
    if (authenticators[1]?.["status"] === "INACTIVE" && outcome === "PASS")
      expect(result.detail).toMatch(/not active are "Old"/);
  });
});

describe(oktaVerify, () => {
  test.each<[value: unknown, outcome: string]>([["OPTIONAL", "FAIL"]])("FIPS %j is %s", (value, outcome) => {
    expect(outcomeOf(judge(oktaVerify, [fips(value)]))).toBe(outcome);
  });
});

function judge(check: string, authenticators: JsonList) {
  return evaluate(check, { authenticators: obtained(authenticators) });
}
