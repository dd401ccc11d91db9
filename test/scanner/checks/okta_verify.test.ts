import { expect, test } from "vitest";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { evaluate } from "../../support/artifact_builders.ts";

/** FIPS of Okta Verify: as one authenticator, and as the three that release 2026.08.0 made of it. */

const judge = (authenticators: string) =>
  evaluate("authenticator_okta_verify_fips_compliant", {
    authenticators: obtained((authenticators.match(/\w[^,]*/g) ?? []).map(verify)),
  });

/** `Push OPTIONAL INACTIVE`; without a word for FIPS it has no setting, and without one for the status it is active. */
function verify(text: string): JsonObject {
  const [name = "", fips, status = "ACTIVE"] = text.split(" ");
  const key = name === "Verify" ? "okta_verify" : `okta_verify_${name.toLowerCase()}`;
  const settings = fips === undefined ? {} : { settings: { compliance: { fips } } };
  return { id: `aut-${key}`, key, name, type: "app", status, ...settings };
}

test.each<[authenticators: string, findings: string]>([
  ["Push OPTIONAL, FastPass REQUIRED", "FastPass PASS, Push FAIL"],
  ["Verify REQUIRED, Push OPTIONAL", "Push FAIL, Verify PASS"],
  // One that has no setting of its own goes by the others'.
  ["Push, FastPass REQUIRED", "FastPass PASS, Push PASS"],
  ["Push, FastPass OPTIONAL", "FastPass FAIL, Push FAIL"],
  ["Push, FastPass", "FastPass MANUAL, Push MANUAL"],
  ["Verify", "Verify FAIL"],
  ["Verify OPTIONAL INACTIVE, Push REQUIRED", "Push PASS"],
  ["Push OPTIONAL PAUSED", "Push MANUAL"],
  ["Push OPTIONAL PAUSED, FastPass REQUIRED", "FastPass PASS, Push MANUAL"],
])("each active authenticator has a finding: %s, %s", (authenticators, findings) => {
  for (const list of [authenticators, authenticators.split(", ").toReversed().join(", ")]) {
    const found = judge(list).findings.map(({ resource, status }) => `${resource.name} ${status}`);
    expect(found.join(", ")).toBe(findings);
  }
});

test("a finding names the sibling that decides", () => {
  const { findings } = judge("Push, FastPass REQUIRED");
  expect(findings[1]?.actual).toBe('no separate setting, and "FastPass" with FIPS compliance REQUIRED');
});

test.each(["", "Push OPTIONAL INACTIVE"])("without an active one a person decides, who may attest: %j", (list) => {
  const { reason, detail } = judge(list);
  expect(reason).toBe("needs_review");
  expect(detail).toContain("verify that nobody uses Okta Verify, and attest the rule as Not Applicable");
});
