import { describe, expect, test } from "vitest";
import {
  missing,
  obtained,
  type BuiltInApp,
  type Evidence,
  type JsonList,
} from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { Engine } from "../../../shared/report.ts";
import {
  aLaxRule,
  adminConsoleApp,
  anAccessRule,
  dashboardApp,
  evaluate,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";

const method = "actions.appSignOn.verificationMethod";
const mfaChecks = ["application_admin_console_mfa_required", "application_dashboard_mfa_required"];
const phishingChecks = [
  "application_admin_console_phishing_resistant_authentication",
  "application_dashboard_phishing_resistant_authentication",
];

describe.each([...mfaChecks, ...phishingChecks])("%s", (check) => {
  test("an app that the answer does not hold needs Super Administrator", () => {
    const result = judgeApp(check, obtained({ app: null, rules: null }));
    expect(outcomeOf(result)).toBe("missing_role");
    expect(result.findings).toMatchObject([
      { resource: { type: "app", name: expect.stringMatching(/^Okta (Admin Console|Dashboard)$/) } },
    ]);
  });

  test.each<[engine: Engine, outcome: string]>([["classic", "needs_review"]])(
    "an app without a policy on the engine %s is %s",
    (engine, outcome) => {
      for (const links of [undefined, {}, { accessPolicy: null }, { accessPolicy: {} }]) {
        const app = { ...adminConsoleApp, _links: links };
        const result = judgeApp(check, obtained({ app, rules: null }), engine);
        expect(outcomeOf(result)).toBe(outcome);
      }
    },
  );

  test.each<[what: string, rules: JsonList, outcome: string]>([
    ["two rules of the same priority that disagree", [anAccessRule(), aLaxRule({ priority: 0 })], "unreadable"],
  ])("$0 is $2", (_, rules, outcome) => {
    expect(outcomeOf(judgeRules(check, rules))).toBe(outcome);
  });

  test.each<[what: string, path: string, value: unknown, outcome: string]>([
    ["a method type of another shape", `${method}.type`, 7, "unreadable"],
    ["no method type", `${method}.type`, undefined, "PASS"],
    ["no verification method", method, null, "FAIL"],
  ])("$0 is $3", (_, path, value, outcome) => {
    expect(outcomeOf(judgeRules(check, [set(anAccessRule(), path, value)]))).toBe(outcome);
  });

  test("rules that were refused or broke off are MANUAL with their reason", () => {
    for (const partial of [null, [aLaxRule({ priority: 0 })]]) {
      const rules: Evidence<JsonList> = missing("missing_scope", "policies.read is not granted", partial);
      const result = judgeApp(check, obtained({ app: adminConsoleApp, rules }));
      expect(outcomeOf(result)).toBe("missing_scope");
    }
  });

  test("an app from an answer that broke off can FAIL, and never PASS", () => {
    const lax = missing("provider_error", "page 2 failed", { app: adminConsoleApp, rules: obtained([aLaxRule()]) });
    const strict = missing("provider_error", "page 2 failed", {
      app: adminConsoleApp,
      rules: obtained([anAccessRule()]),
    });
    expect(judgeApp(check, lax).status).toBe("FAIL");
    expect(outcomeOf(judgeApp(check, strict))).toBe("provider_error");
  });
});

describe.each(mfaChecks)("%s", (check) => {
  test.each<[factorMode: unknown, outcome: string]>([
    [null, "FAIL"],
    ["3FA", "unreadable"],
  ])("the factor mode %j is %s", (factorMode, outcome) => {
    expect(outcomeOf(judgeRules(check, [set(anAccessRule(), `${method}.factorMode`, factorMode)]))).toBe(outcome);
  });

  test.each<[what: string, chains: unknown, outcome: string]>([
    ["one step", [chain([webauthn])], "FAIL"],
    ["one step of two factors: a smart card", [chain([{ key: "smart_card_idp", method: "idp" }])], "PASS"],
    ["one step of two factors: a key that verifies its user", [chain([verified])], "PASS"],
    ["one step with a choice of one factor", [chain([verified, email])], "FAIL"],
    ["a verification that is not demanded", [chain([{ ...webauthn, userVerification: "OPTIONAL" }])], "FAIL"],
    ["a demand of another shape", [chain([{ ...webauthn, userVerification: 1 }])], "unreadable"],
    ["two steps of one kind", [chain([email], [webauthn])], "FAIL"],
    ["steps with alternatives of one kind", [chain([password, email], [webauthn])], "FAIL"],
    ["an unknown method", [chain([password], [{ key: "brain_wave", method: "think" }])], "unreadable"],
    ["an unknown method in a chain of one step", [chain([{ key: "brain_wave" }])], "unreadable"],
    ["a branch of one kind", [{ ...chain([email]), next: [chain([password]), chain([webauthn])] }], "FAIL"],
    ["no chain", [], "FAIL"],
    ["chains not set", null, "FAIL"],
    ["a chain of another shape beside a chain of one step", ["any", chain([webauthn])], "FAIL"],
    ["a chain of another shape beside a good one", ["any", chain([password], [webauthn])], "unreadable"],
    ["a step without methods", [chain([])], "unreadable"],
    ["a chain without an end", [endless(50)], "unreadable"],
  ])("$0 is $2", (_, chains, outcome) => {
    expect(outcomeOf(judgeChains(check, chains))).toBe(outcome);
  });
});

describe.each(phishingChecks)("%s", (check) => {
  const required = { possession: { phishingResistant: "REQUIRED" } };

  test.each<[constraints: unknown, outcome: string]>([
    [[required, { possession: { required: false, phishingResistant: "REQUIRED" } }], "needs_review"],
    [[{ possession: { required: "no", phishingResistant: "REQUIRED" } }], "unreadable"],
    [[{ possession: { required: false, phishingResistant: "OPTIONAL" } }], "FAIL"],
    [[required, { possession: { phishingResistant: "OPTIONAL" } }], "FAIL"],
    [undefined, "FAIL"],
    [[{ possession: { phishingResistant: true } }], "unreadable"],
    [[{ possession: { phishingResistant: "SOMETIMES" } }, { possession: {} }], "FAIL"],
  ])("the constraints %j are %s", (constraints, outcome) => {
    expect(outcomeOf(judgeRules(check, [set(anAccessRule(), `${method}.constraints`, constraints)]))).toBe(outcome);
  });

  test.each<[what: string, chains: unknown, outcome: string]>([
    ["FastPass that is required to resist", [chain([{ ...fastPass, phishingResistant: "REQUIRED" }])], "PASS"],
    ["FastPass that is not", [chain([fastPass])], "needs_review"],
    ["FastPass after WebAuthn", [chain([webauthn], [fastPass])], "PASS"],
    ["an unknown value", [chain([{ ...fastPass, phishingResistant: "SOMETIMES" }])], "unreadable"],
  ])("$0 is $2", (_, chains, outcome) => {
    expect(outcomeOf(judgeChains(check, chains))).toBe(outcome);
  });
});

const password = { key: "okta_password", method: "password" };
const email = { key: "okta_email", method: "email" };
const webauthn = { key: "webauthn", method: "webauthn" };
const verified = { ...webauthn, userVerification: "REQUIRED" };
const fastPass = { key: "okta_verify", method: "signed_nonce" };

test.each([...mfaChecks, ...phishingChecks])("%s: good chains are no choice that DISA names", (check) => {
  const result = judgeChains(check, [chain([password], [webauthn])]);
  expect(result).toMatchObject({ status: "MANUAL", reason: "partly_automated", automated: "PASS" });
  expect(result.detail).toMatch(
    /DISA names .*, and no authentication chain\. Verify that the chains demand as much\.$/,
  );
});

function chain(...steps: readonly (readonly JsonObject[])[]): JsonObject {
  const [methods = [], ...rest] = steps;
  const next = rest.length === 0 ? {} : { next: [chain(...rest)] };
  return { authenticationMethods: methods, ...next, reauthenticateIn: "PT0S" };
}

function endless(depth: number): JsonObject {
  return { authenticationMethods: [webauthn], next: depth === 0 ? [] : [endless(depth - 1)] };
}

function judgeChains(check: string, chains: unknown) {
  return judgeRules(check, [set(anAccessRule(), method, { type: "AUTH_METHOD_CHAIN", chains })]);
}

function judgeRules(check: string, rules: JsonList) {
  const app = check.includes("dashboard") ? dashboardApp : adminConsoleApp;
  return judgeApp(check, obtained({ app, rules: obtained(rules) }));
}

function judgeApp(check: string, evidence: Evidence<BuiltInApp>, engine: Engine = "identity") {
  return evaluate(check, { admin_console_app: evidence, dashboard_app: evidence }, { engine });
}
