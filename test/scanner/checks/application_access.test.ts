import { describe, expect, test } from "vitest";
import { missing, obtained, type BuiltInApp, type Evidence } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { adminConsoleApp, aLaxRule, anAccessRule, evaluate, outcomeOf, set } from "../../support/artifact_builders.ts";

/** Factors that a rule demands of people who sign in to the Admin Console; the dashboard's checks are the same ones. */

const mfaCheck = "application_admin_console_mfa_required";
const phishingCheck = "application_admin_console_phishing_resistant_authentication";
const method = "actions.appSignOn.verificationMethod";

const password = { key: "okta_password", method: "password" };
const email = { key: "okta_email", method: "email" };
const webauthn = { key: "webauthn", method: "webauthn" };
const push = { key: "okta_verify_push", method: "push" };
const fastPass = { key: "okta_verify_fastpass", method: "signed_nonce" };
const card = { key: "smart_card_idp", method: "idp" };
const provider = { key: "external_idp", method: "idp" };
const accessCode = { key: "tac", method: "tac" };
const verified = (one: JsonObject) => ({ ...one, userVerification: "REQUIRED" });
const resistant = (one: JsonObject) => ({ ...one, phishingResistant: "REQUIRED" });

test("an app from an answer that broke off can FAIL, and never PASS", () => {
  const partial = (rule: JsonObject) =>
    judgeApp(mfaCheck, missing("provider_error", "", { app: adminConsoleApp, rules: obtained([rule]) }));
  expect([partial(aLaxRule()), partial(anAccessRule())].map(outcomeOf)).toEqual(["FAIL", "provider_error"]);
});

describe("constraints of phishing resistance", () => {
  const required = { possession: { phishingResistant: "REQUIRED" } };

  test.each<[constraints: unknown, outcome: string]>([
    [[required], "PASS"],
    [[required, { possession: { required: false, phishingResistant: "REQUIRED" } }], "needs_review"],
    [[required, { possession: { phishingResistant: "OPTIONAL" } }], "FAIL"],
  ])("%j are %s", (constraints, outcome) => {
    expect(outcomeOf(judge(phishingCheck, { ...strictMethod, constraints }))).toBe(outcome);
  });
});

describe("an authentication chain", () => {
  type Steps = readonly (readonly JsonObject[])[];
  test.each<[what: string, steps: Steps, mfa: string, phishing: string]>([
    ["two kinds of factors", [[password], [webauthn]], "PASS", "PASS"],
    ["two steps of one kind", [[email], [webauthn]], "FAIL", "PASS"],
    ["a smart card with its PIN", [[verified(card)]], "PASS", "PASS"],
    ["a smart card and a password", [[password], [card]], "PASS", "PASS"],
    ["a key that verifies its user", [[verified(webauthn)]], "PASS", "PASS"],
    ["a push that verifies its user", [[verified(push)]], "PASS", "FAIL"],
    ["a code, which verifies nobody", [[verified({ key: "okta_verify", method: "totp" })]], "FAIL", "FAIL"],
    ["a verification that is not demanded", [[{ ...webauthn, userVerification: "OPTIONAL" }]], "FAIL", "PASS"],
    ["a choice of one factor", [[verified(webauthn), email]], "FAIL", "FAIL"],
    ["FastPass", [[password], [fastPass]], "PASS", "needs_review"],
    ["FastPass that resists", [[password], [resistant(fastPass)]], "PASS", "PASS"],
    ["a push that cannot resist", [[password], [resistant(fastPass), push]], "PASS", "FAIL"],
    ["another identity provider and a password", [[provider], [password]], "PASS", "needs_review"],
    ["another identity provider and e-mail", [[provider], [email]], "needs_review", "needs_review"],
    ["a temporary access code", [[password], [accessCode]], "needs_review", "needs_review"],
    ["a temporary access code or e-mail", [[password], [accessCode, email]], "needs_review", "FAIL"],
    ["a method without a key", [[password], [{ method: "tac" }]], "needs_review", "needs_review"],
    ["a step without methods", [[]], "unreadable", "unreadable"],
  ])("of %s", (_, steps, mfa, phishing) => {
    const chains = { type: "AUTH_METHOD_CHAIN", chains: [chain(steps)] };
    expect([judge(mfaCheck, chains), judge(phishingCheck, chains)].map(outcomeOf)).toEqual([mfa, phishing]);
  });

  test.each<[providers: readonly JsonObject[] | null, outcome: string]>([
    [[{ status: "ACTIVE", properties: { additionalAmr: ["sc", "hwk", "pin", "mfa"] } }], "PASS"],
    [[{ status: "ACTIVE", properties: { additionalAmr: ["sc", "hwk"] } }], "needs_review"],
    [[{ status: "INACTIVE", properties: { additionalAmr: ["sc", "pin", "mfa"] } }], "needs_review"],
    [null, "needs_review"],
  ])("of a smart card from the providers %j is %s", (providers, outcome) => {
    const idps = providers?.map((idp) => ({ idp, certificate: obtained(null) }));
    const rules = obtained([set(anAccessRule(), method, { type: "AUTH_METHOD_CHAIN", chains: [chain([[card]])] })]);
    const admin_console_app = obtained({ app: adminConsoleApp, rules });
    const smart_card_idps = idps === undefined ? missing<never>("missing_scope", "") : obtained(idps);
    expect(outcomeOf(evaluate(mfaCheck, { admin_console_app, smart_card_idps }))).toBe(outcome);
  });

  test.each<[what: string, chains: unknown, outcome: string]>([
    ["no chain", [], "FAIL"],
    ["chains that are not set", null, "FAIL"],
    ["a chain of another shape beside a chain of one step", ["any", chain([[webauthn]])], "FAIL"],
  ])("%s", (_, chains, outcome) => {
    expect(outcomeOf(judge(mfaCheck, { type: "AUTH_METHOD_CHAIN", chains }))).toBe(outcome);
  });

  test.each([mfaCheck, phishingCheck])("%s: a good one is no choice that DISA names", (check) => {
    const result = judge(check, { type: "AUTH_METHOD_CHAIN", chains: [chain([[password], [webauthn]])] });
    expect(result).toMatchObject({ status: "MANUAL", reason: "partly_automated", automated: "PASS" });
    expect(result.detail).toMatch(
      /DISA names .*, and no authentication chain\. Verify that the chains demand as much\.$/,
    );
  });

  function chain([methods = [], ...rest]: Steps): JsonObject {
    return { authenticationMethods: methods, next: rest.length === 0 ? [] : [chain(rest)] };
  }
});

const strictMethod = { type: "ASSURANCE", factorMode: "2FA" };

function judge(check: string, verification: JsonObject) {
  const rules = obtained([set(anAccessRule(), method, verification)]);
  return judgeApp(check, obtained({ app: adminConsoleApp, rules }));
}

function judgeApp(check: string, evidence: Evidence<BuiltInApp>) {
  return evaluate(check, { admin_console_app: evidence });
}
