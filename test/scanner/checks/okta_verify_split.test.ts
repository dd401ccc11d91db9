import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { anAccessRule, adminConsoleApp, evaluate, outcomeOf, set } from "../../support/artifact_builders.ts";

/** Okta Verify as one authenticator, and as the three that release 2026.08.0 made of it. */

const fipsCheck = "authenticator_okta_verify_fips_compliant";
const mfaCheck = "application_admin_console_mfa_required";
const phishingCheck = "application_admin_console_phishing_resistant_authentication";

const names: Readonly<Record<string, string>> = {
  okta_verify: "Okta Verify",
  okta_verify_totp: "TOTP",
  okta_verify_push: "Push",
  okta_verify_fastpass: "FastPass",
};

function verify(key: string, fips?: unknown, status: unknown = "ACTIVE"): JsonObject {
  const settings = fips === undefined ? {} : { settings: { compliance: { fips } } };
  return { id: `aut-${key}`, key, name: names[key], type: "app", status, ...settings };
}

describe("FIPS of the family: a finding for each active authenticator", () => {
  const whole = (fips?: unknown, status?: unknown) => verify("okta_verify", fips, status);
  const totp = (fips?: unknown, status?: unknown) => verify("okta_verify_totp", fips, status);
  const push = (fips?: unknown, status?: unknown) => verify("okta_verify_push", fips, status);
  const fastPass = (fips?: unknown, status?: unknown) => verify("okta_verify_fastpass", fips, status);
  const noKey = (changes: JsonObject = {}) => ({
    id: "autNew",
    name: "New",
    type: "app",
    status: "ACTIVE",
    ...changes,
  });
  type Found = readonly [name: string, status: string];

  test.each<[what: string, authenticators: JsonList, status: string, findings: readonly Found[]]>([
    [
      "all three REQUIRED",
      [totp("REQUIRED"), push("REQUIRED"), fastPass("REQUIRED")],
      "PASS",
      [
        ["FastPass", "PASS"],
        ["Push", "PASS"],
        ["TOTP", "PASS"],
      ],
    ],
    [
      "one OPTIONAL of three",
      [totp("REQUIRED"), push("OPTIONAL"), fastPass("REQUIRED")],
      "FAIL",
      [
        ["FastPass", "PASS"],
        ["Push", "FAIL"],
        ["TOTP", "PASS"],
      ],
    ],
    [
      "one whose compliance lacks the setting",
      [push("REQUIRED"), fastPass(null)],
      "FAIL",
      [
        ["FastPass", "FAIL"],
        ["Push", "PASS"],
      ],
    ],
    [
      "a split one beside the whole one",
      [whole("REQUIRED"), push("OPTIONAL")],
      "FAIL",
      [
        ["Okta Verify", "PASS"],
        ["Push", "FAIL"],
      ],
    ],
    [
      "a split one without compliance beside one REQUIRED",
      [push(), fastPass("REQUIRED")],
      "PASS",
      [
        ["FastPass", "PASS"],
        ["Push", "PASS"],
      ],
    ],
    [
      "a split one without compliance beside one OPTIONAL",
      [push(), fastPass("OPTIONAL")],
      "FAIL",
      [
        ["FastPass", "FAIL"],
        ["Push", "FAIL"],
      ],
    ],
    [
      "a split one without compliance beside one with an unknown value",
      [push(), fastPass("SOMETIMES")],
      "MANUAL",
      [
        ["FastPass", "MANUAL"],
        ["Push", "MANUAL"],
      ],
    ],
    [
      "no one with compliance",
      [push(), fastPass()],
      "MANUAL",
      [
        ["FastPass", "MANUAL"],
        ["Push", "MANUAL"],
      ],
    ],
    [
      "only an inactive one with compliance",
      [push(), fastPass("REQUIRED", "INACTIVE")],
      "MANUAL",
      [["Push", "MANUAL"]],
    ],
    ["the whole one without compliance", [whole()], "FAIL", [["Okta Verify", "FAIL"]]],
    [
      "an inactive one beside an active one",
      [whole("OPTIONAL", "INACTIVE"), push("REQUIRED")],
      "PASS",
      [["Push", "PASS"]],
    ],
    [
      "none active",
      [whole("REQUIRED", "INACTIVE"), push("REQUIRED", "INACTIVE")],
      "MANUAL",
      [
        ["Okta Verify", "MANUAL"],
        ["Push", "MANUAL"],
      ],
    ],
    ["an unknown status and OPTIONAL", [push("OPTIONAL", 1)], "MANUAL", [["Push", "MANUAL"]]],
    [
      "an unknown status beside an active one",
      [push("OPTIONAL", 1), fastPass("REQUIRED")],
      "MANUAL",
      [
        ["FastPass", "PASS"],
        ["Push", "MANUAL"],
      ],
    ],
    ["one without a key", [noKey()], "MANUAL", [["New", "MANUAL"]]],
    ["one without a key beside one that FAILs", [noKey(), push("OPTIONAL")], "FAIL", [["Push", "FAIL"]]],
    ["an inactive one without a key", [noKey({ status: "INACTIVE" })], "MANUAL", [["acme.okta.com", "MANUAL"]]],
  ])("%s", (_, authenticators, status, findings) => {
    for (const list of [authenticators, authenticators.toReversed()]) {
      const result = evaluate(fipsCheck, { authenticators: obtained(list) });
      expect([result.status, result.findings.map((finding) => [finding.resource.name, finding.status])]).toEqual([
        status,
        findings,
      ]);
    }
  });

  test("without one that is active is for a person, who may attest that it is not used", () => {
    for (const list of [[], [push("OPTIONAL", "INACTIVE")]]) {
      const result = evaluate(fipsCheck, { authenticators: obtained(list) });
      expect(outcomeOf(result)).toBe("needs_review");
      expect(result.detail).toContain("verify that nobody uses Okta Verify, and attest the rule as Not Applicable");
    }
  });

  test("names the sibling that decides", () => {
    const result = evaluate(fipsCheck, { authenticators: obtained([push(), fastPass("REQUIRED")]) });
    expect(result.findings[1]?.actual).toBe('no separate setting, and "FastPass" with FIPS compliance REQUIRED');
  });

  test("in a list that broke off only a FAIL is proven", () => {
    const partial = (...list: JsonList) => missing("provider_error", "page 2 failed", list);
    expect(evaluate(fipsCheck, { authenticators: partial(push("OPTIONAL")) }).status).toBe("FAIL");
    for (const list of [[push("REQUIRED")], [push()], [whole("REQUIRED", "INACTIVE")], []]) {
      expect(outcomeOf(evaluate(fipsCheck, { authenticators: partial(...list) }))).toBe("provider_error");
    }
  });
});

describe("in an authentication chain", () => {
  const password = { key: "okta_password", method: "password" };
  const email = { key: "okta_email", method: "email" };
  const webauthn = { key: "webauthn", method: "webauthn" };
  const totp = { key: "okta_verify_totp", method: "totp" };
  const push = { key: "okta_verify_push", method: "push" };
  const fastPass = { key: "okta_verify_fastpass", method: "signed_nonce" };
  const accessCode = { key: "tac", method: "tac" };
  const verified = (method: JsonObject) => ({ ...method, userVerification: "REQUIRED" });
  const resistant = (method: JsonObject) => ({ ...method, phishingResistant: "REQUIRED" });
  type Verdict = "PASS" | "FAIL" | "needs_review";

  test.each<[steps: readonly (readonly JsonObject[])[], mfa: Verdict, phishing: Verdict]>([
    [[[password], [totp]], "PASS", "FAIL"],
    [[[password], [resistant(totp)]], "PASS", "FAIL"],
    [[[password], [fastPass]], "PASS", "needs_review"],
    [[[password], [resistant(fastPass)]], "PASS", "PASS"],
    [[[password], [resistant(fastPass), push]], "PASS", "FAIL"],
    [[[push], [fastPass]], "FAIL", "needs_review"],
    [[[password], [accessCode]], "needs_review", "needs_review"],
    [[[accessCode], [email]], "needs_review", "needs_review"],
    [[[accessCode], [webauthn]], "needs_review", "PASS"],
    [[[accessCode]], "needs_review", "needs_review"],
    [[[fastPass]], "FAIL", "needs_review"],
    [[[verified(fastPass)]], "PASS", "needs_review"],
    [[[verified(push)]], "FAIL", "FAIL"],
    [[[password], [accessCode, email]], "needs_review", "FAIL"],
    [[[password], [{ method: "tac" }]], "needs_review", "needs_review"],
  ])("%j", (steps, mfa, phishing) => {
    expect([verdictOf(mfaCheck, steps), verdictOf(phishingCheck, steps)]).toEqual([mfa, phishing]);
  });

  function verdictOf(check: string, [methods = [], ...rest]: readonly (readonly JsonObject[])[]) {
    const chain = { authenticationMethods: methods, next: rest.map((next) => ({ authenticationMethods: next })) };
    const method = { type: "AUTH_METHOD_CHAIN", chains: [chain] };
    const rule = set(anAccessRule(), "actions.appSignOn.verificationMethod", method);
    const app = obtained({ app: adminConsoleApp, rules: obtained([rule]) });
    return outcomeOf(evaluate(check, { admin_console_app: app }));
  }
});
