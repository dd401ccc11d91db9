import { describe, expect, test } from "vitest";
import { obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { evaluate, outcomeOf } from "../../support/artifact_builders.ts";

/** FIPS of Okta Verify: as one authenticator, and as the three that release 2026.08.0 made of it. */

const check = "authenticator_okta_verify_fips_compliant";
const judge = (authenticators: JsonList) => evaluate(check, { authenticators: obtained(authenticators) });

function verify(name: string, fips?: unknown, status: unknown = "ACTIVE"): JsonObject {
  const key = name === "Okta Verify" ? "okta_verify" : `okta_verify_${name.toLowerCase()}`;
  const settings = fips === undefined ? {} : { settings: { compliance: { fips } } };
  return { id: `aut-${key}`, key, name, type: "app", status, ...settings };
}

describe("each active authenticator has a finding", () => {
  test.each<[authenticators: JsonList, findings: readonly string[]]>([
    [
      [verify("Push", "OPTIONAL"), verify("FastPass", "REQUIRED")],
      ["FastPass PASS", "Push FAIL"],
    ],
    [
      [verify("Okta Verify", "REQUIRED"), verify("Push", "OPTIONAL")],
      ["Okta Verify PASS", "Push FAIL"],
    ],
    // One that has no setting of its own goes by the others'.
    [
      [verify("Push"), verify("FastPass", "REQUIRED")],
      ["FastPass PASS", "Push PASS"],
    ],
    [
      [verify("Push"), verify("FastPass", "OPTIONAL")],
      ["FastPass FAIL", "Push FAIL"],
    ],
    [
      [verify("Push"), verify("FastPass")],
      ["FastPass MANUAL", "Push MANUAL"],
    ],
    [[verify("Okta Verify")], ["Okta Verify FAIL"]],
    [[verify("Okta Verify", "OPTIONAL", "INACTIVE"), verify("Push", "REQUIRED")], ["Push PASS"]],
    [[verify("Push", "OPTIONAL", 1)], ["Push MANUAL"]],
    [
      [verify("Push", "OPTIONAL", 1), verify("FastPass", "REQUIRED")],
      ["FastPass PASS", "Push MANUAL"],
    ],
  ])("%j: %j", (authenticators, findings) => {
    for (const list of [authenticators, authenticators.toReversed()]) {
      expect(judge(list).findings.map(({ resource, status }) => `${resource.name} ${status}`)).toEqual(findings);
    }
  });

  test("and names the sibling that decides", () => {
    const { findings } = judge([verify("Push"), verify("FastPass", "REQUIRED")]);
    expect(findings[1]?.actual).toBe('no separate setting, and "FastPass" with FIPS compliance REQUIRED');
  });
});

test("without an active one a person decides, who may attest that it is not used", () => {
  for (const list of [[], [verify("Push", "OPTIONAL", "INACTIVE")]]) {
    expect(outcomeOf(judge(list))).toBe("needs_review");
    expect(judge(list).detail).toContain("verify that nobody uses Okta Verify, and attest the rule as Not Applicable");
  }
});
