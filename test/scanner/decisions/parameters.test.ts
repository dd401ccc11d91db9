import { describe, expect, test } from "vitest";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { causesOf } from "../../../scanner/causes/causes.ts";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import type { ParameterValues } from "../../../scanner/checks/parameter.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import { isHolding, isWaived, stateOf } from "../../../shared/rule_result.ts";
import {
  anAction,
  anAutomation,
  aPasswordPolicy,
  compliantArtifacts,
  evaluate,
  set,
} from "../../support/artifact_builders.ts";
import { compliantOrg, paths } from "../../support/compliant_org.ts";
import { mapIdpClient } from "../../support/map_idp_client.ts";

const check = "authenticator_password_maximum_age_60d";

function judge(days: number, parameters: ParameterValues) {
  const policy = set(aPasswordPolicy(), "settings.password.age.maxAgeDays", days);
  return evaluate(check, compliantArtifacts({ password_policies: obtained([policy]) }), { parameters });
}

describe("a value of the organization's own", () => {
  test.each([
    ["the STIG's", 60, 60, "pass", undefined, false],
    ["stricter, met", 30, 30, "pass", "PASS", false],
    ["stricter, not met", 30, 60, "fail", "PASS", false],
    ["looser, met, and the STIG's is not", 90, 90, "fail", "FAIL", true],
    ["looser, and the STIG's is met too", 90, 60, "pass", "PASS", false],
    ["looser, not met", 90, 91, "fail", "FAIL", false],
  ] as const)("that is %s", (_, limit, days, state, stigStatus, waived) => {
    const result = judge(days, { password_maximum_age_days: limit });
    expect([stateOf(result), result.tailoring?.stig_status, isWaived(result)]).toEqual([state, stigStatus, waived]);
  });

  test("a stricter value has to be met, also where something fails by the STIG", () => {
    const policies = [60, 90].map((days, index) => ({
      ...set(aPasswordPolicy(), "settings.password.age.maxAgeDays", days),
      id: `00p${index}`,
    }));
    const artifacts = compliantArtifacts({ password_policies: obtained(policies) });
    const result = evaluate(check, artifacts, { parameters: { password_maximum_age_days: 30 } });
    expect(result.findings.map(({ expected }) => expected)).toEqual(Array(2).fill(expect.stringContaining("1 to 30")));
    const changes = causesOf([result], artifacts).map(({ change }) => change);
    expect(changes).toEqual(Array(2).fill(expect.stringContaining("1 to 30")));
  });

  test.each([
    ["user_inactivity_automation_35d_enabled", "user_inactivity_days"],
    ["authenticator_password_lockout_threshold_3", "password_lockout_attempts"],
  ])("%s: a stricter value is MANUAL where its evidence was not collected", (name, limit) => {
    const { saml_idps: _notCollected, ...artifacts } = compliantArtifacts();
    const result = evaluate(name, artifacts, { parameters: { [limit]: 2 } });
    expect(result).toMatchObject({ status: "MANUAL", reason: "provider_error", tailoring: { stig_status: "PASS" } });
    expect(result.detail).toMatch(/GET .*idps.* was not asked for .*scan again with the same --org-policy/);
  });

  test.each(catalog.flatMap(({ parameters }) => parameters))(
    "$name moves a verdict of its check in both directions",
    (parameter) => {
      if (parameter.kind === "list") return;
      const step = parameter.stricter === "less" ? -1 : 1;
      const owner = catalog.find(({ parameters }) => parameters.some(({ name }) => name === parameter.name));
      const judged = (value: number) =>
        evaluate(owner?.name ?? "", compliantArtifacts(), { parameters: { [parameter.name]: value } });
      // The compliant org is exactly at the STIG's limits.
      const stricter = judged(parameter.stigValue + step);
      expect(stricter).toMatchObject({ status: "FAIL", tailoring: { effect: "stricter" } });
      const looser = judged(parameter.stigValue - step);
      expect(isHolding(looser)).toBe(true);
      expect(looser.tailoring?.effect).toBe("looser");
    },
  );

  test("issuers that are not the DOD's are looser, fewer of the DOD's stricter", () => {
    const judged = (issuers: readonly string[]) =>
      evaluate("idp_smart_card_dod_approved_ca", compliantArtifacts(), { parameters: { approved_issuers: issuers } });
    expect(judged(["OU=DoD"]).tailoring).toMatchObject({ effect: "stricter" });
    expect(judged(["OU=DoD", "OU=ECA"]).tailoring).toBeUndefined();
    expect(judged(["ou = dod", "OU=eca"]).tailoring).toBeUndefined();
    expect(judged(["OU=PKI, OU=DoD"]).tailoring).toMatchObject({ effect: "stricter" });
    expect(judged(["OU=DoD", "O=Agency"]).tailoring).toMatchObject({ effect: "looser" });
  });

  test.each([
    ["Everyone", "00gEveryone", ""],
    ["others", "00g2", ", as far as that is automated"],
  ])("is met by an automation for %s as far as the waiver says", (_, group, part) => {
    const late = set(anAutomation(), "conditions.people.users.inactivity.number", 60);
    const policy = set(late, "conditions.people.groups.include", [group]);
    const user_lifecycle_policies = obtained([{ policy, rules: obtained([anAction()]) }]);
    const artifacts = compliantArtifacts({ user_lifecycle_policies, automation_groups: obtained([]) });
    const name = "user_inactivity_automation_35d_enabled";
    const [finding] = evaluate(name, artifacts, { parameters: { user_inactivity_days: 60 } }).findings;
    expect(finding?.waiver?.reason).toMatch(new RegExp(`so this is looser\\)${part}$`));
  });

  test("has the evidence collected that its verdict and the STIG's need", async () => {
    const collected = async (days: number, limit: number) => {
      const policy = set(anAutomation(), "conditions.people.users.inactivity.number", days);
      const client = mapIdpClient({ ...compliantOrg, [paths.lifecycle]: [policy] });
      const collection = createCollection(client, { values: { parameters: { user_inactivity_days: limit } } });
      return Object.keys(await collection.obtainFor(findCheck("user_inactivity_automation_35d_enabled")));
    };
    expect(await collected(35, 35)).toEqual(["user_lifecycle_policies", "built_in_groups"]);
    expect(await collected(35, 20)).toContain("password_policies");
    expect(await collected(90, 90)).toContain("password_policies");
  });
});
