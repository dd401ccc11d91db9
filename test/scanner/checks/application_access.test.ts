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
  lastRule,
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
    expect(result).toMatchObject({ status: "MANUAL", reason: "missing_role" });
    expect(result.findings).toMatchObject([
      { resource: { type: "app", name: expect.stringMatching(/^Okta (Admin Console|Dashboard)$/) } },
    ]);
  });

  test.each<[engine: Engine, status: string, reason: string | null]>([
    ["identity", "FAIL", null],
    ["unknown", "MANUAL", "needs_review"],
    ["classic", "MANUAL", "needs_review"],
  ])("an app without a policy on the engine %s is %s", (engine, status, reason) => {
    for (const links of [undefined, {}, { accessPolicy: null }, { accessPolicy: {} }]) {
      const app = { ...adminConsoleApp, _links: links };
      const result = judgeApp(check, obtained({ app, rules: null }), engine);
      expect(result).toMatchObject({ status, reason });
    }
  });

  test.each([
    [7],
    [{ accessPolicy: "rst1" }],
    [{ accessPolicy: { href: 7 } }],
    [{ accessPolicy: { href: "https://acme.okta.com/" } }],
  ])("a policy link %j is unreadable", (links) => {
    const result = judgeApp(check, obtained({ app: { ...adminConsoleApp, _links: links }, rules: null }));
    expect(result.status === "MANUAL" || JSON.stringify(links).includes("okta.com")).toBe(true);
  });

  test.each<[what: string, rules: JsonList, status: string, reason: string | null]>([
    ["no rule", [], "FAIL", null],
    ["no active rule", [anAccessRule({ status: "INACTIVE" })], "FAIL", null],
    ["a rule without a status", [anAccessRule({ status: null })], "PASS", null],
    ["priorities from 0", [anAccessRule(), aLaxRule({ priority: 1 })], "PASS", null],
    ["priorities from 5, in another order", [aLaxRule({ priority: 6 }), anAccessRule({ priority: 5 })], "PASS", null],
    ["a lax first rule", [anAccessRule({ priority: 1 }), aLaxRule({ priority: 0 })], "FAIL", null],
    [
      "a lax first rule that is inactive",
      [anAccessRule({ priority: 1 }), aLaxRule({ status: "INACTIVE" })],
      "PASS",
      null,
    ],
    [
      "a lax rule without a priority, which comes last",
      [aLaxRule({ priority: undefined }), anAccessRule()],
      "PASS",
      null,
    ],
    ["the catch-all alone", [anAccessRule({ name: "Catch-all Rule", system: true, priority: 99 })], "PASS", null],
    [
      "two rules of the same priority that disagree",
      [anAccessRule(), aLaxRule({ priority: 0 })],
      "MANUAL",
      "unreadable",
    ],
    ["two rules of the same priority that agree", [anAccessRule(), anAccessRule({ id: "rul2" })], "PASS", null],
    ["two lax rules of the same priority", [aLaxRule(), aLaxRule({ id: "rulLax2" })], "FAIL", null],
    ["the catch-all at the priority of a strict rule", [lastRule({ priority: 0 }), anAccessRule()], "PASS", null],
    [
      "the catch-all at the priority of a lax rule",
      [anAccessRule({ system: true }), aLaxRule({ priority: 0 })],
      "FAIL",
      null,
    ],
    ["a lax rule with a priority in a text", [aLaxRule({ priority: "0" })], "FAIL", null],
    ["a lax rule with an unknown status", [aLaxRule({ status: "PAUSED" }), lastRule()], "FAIL", null],
    [
      "a lax rule with an unknown status before a strict one",
      [aLaxRule({ status: "PAUSED", priority: -1 }), anAccessRule()],
      "MANUAL",
      "unreadable",
    ],
    [
      "a rule with an unknown status after a strict one",
      [anAccessRule(), aLaxRule({ status: "PAUSED" })],
      "PASS",
      null,
    ],
    ["a strict rule beside {}", [anAccessRule(), {}], "MANUAL", "unreadable"],
    ["a strict rule beside null", [anAccessRule(), null as unknown as JsonObject], "MANUAL", "unreadable"],
    ["a priority in a text", [anAccessRule({ priority: "0" })], "MANUAL", "unreadable"],
    ["an unknown status", [anAccessRule({ status: "PAUSED" })], "MANUAL", "unreadable"],
  ])("%s is %s", (_, rules, status, reason) => {
    expect(judgeRules(check, rules)).toMatchObject({ status, reason });
  });

  test.each<[what: string, path: string, value: unknown, status: string, reason: string | null]>([
    ["a rule that denies everybody in its zone", "actions.appSignOn.access", "DENY", "PASS", null],
    ["an unknown access", "actions.appSignOn.access", "MAYBE", "MANUAL", "unreadable"],
    ["no access", "actions.appSignOn.access", undefined, "PASS", null],
    ["identity proofing", `${method}.type`, "ID_PROOFING", "MANUAL", "needs_review"],
    ["an unknown method type", `${method}.type`, "ORACLE", "MANUAL", "needs_review"],
    ["a method type of another shape", `${method}.type`, 7, "MANUAL", "unreadable"],
    ["no method type", `${method}.type`, undefined, "PASS", null],
    ["no verification method", method, null, "FAIL", null],
    ["a verification method of another shape", method, "2FA", "MANUAL", "unreadable"],
    ["no actions", "actions", undefined, "FAIL", null],
  ])("%s is %s", (_, path, value, status, reason) => {
    expect(judgeRules(check, [set(anAccessRule(), path, value)])).toMatchObject({ status, reason });
  });

  test("rules that were refused or broke off are MANUAL with their reason", () => {
    for (const partial of [null, [aLaxRule({ priority: 0 })]]) {
      const rules: Evidence<JsonList> = missing("missing_scope", "policies.read is not granted", partial);
      const result = judgeApp(check, obtained({ app: adminConsoleApp, rules }));
      expect(result).toMatchObject({ status: "MANUAL", reason: "missing_scope" });
    }
  });

  test("an app from an answer that broke off can FAIL, and never PASS", () => {
    const lax = missing("provider_error", "page 2 failed", { app: adminConsoleApp, rules: obtained([aLaxRule()]) });
    const strict = missing("provider_error", "page 2 failed", {
      app: adminConsoleApp,
      rules: obtained([anAccessRule()]),
    });
    expect(judgeApp(check, lax).status).toBe("FAIL");
    expect(judgeApp(check, strict)).toMatchObject({ status: "MANUAL", reason: "provider_error" });
  });
});

describe.each(mfaChecks)("%s", (check) => {
  test.each<[factorMode: unknown, status: string, reason: string | null]>([
    ["2FA", "PASS", null],
    ["1FA", "FAIL", null],
    [null, "FAIL", null],
    [undefined, "FAIL", null],
    ["3FA", "MANUAL", "unreadable"],
    [2, "MANUAL", "unreadable"],
  ])("the factor mode %j is %s", (factorMode, status, reason) => {
    expect(judgeRules(check, [set(anAccessRule(), `${method}.factorMode`, factorMode)])).toMatchObject({
      status,
      reason,
    });
  });

  test.each<[what: string, chains: unknown, status: string, reason: string | null]>([
    ["password then WebAuthn", [chain([password], [webauthn])], "PASS", null],
    ["email then password", [chain([email], [password])], "PASS", null],
    ["three steps of two kinds", [chain([email], [password], [webauthn])], "PASS", null],
    ["one step", [chain([webauthn])], "FAIL", null],
    ["two steps of one kind", [chain([email], [webauthn])], "FAIL", null],
    ["two steps of knowledge", [chain([password], [{ key: "security_question" }])], "FAIL", null],
    ["a one-step chain beside a good one", [chain([password], [webauthn]), chain([webauthn])], "FAIL", null],
    ["steps with alternatives of one kind", [chain([password, email], [webauthn])], "FAIL", null],
    [
      "alternatives that share no kind",
      [chain([password, { key: "security_question" }], [email, webauthn])],
      "PASS",
      null,
    ],
    ["an unknown method", [chain([password], [{ key: "brain_wave", method: "think" }])], "MANUAL", "unreadable"],
    ["an unknown method in a chain of one step", [chain([{ key: "brain_wave" }])], "FAIL", null],
    ["a branch of one kind", [{ ...chain([email]), next: [chain([password]), chain([webauthn])] }], "FAIL", null],
    ["no chain", [], "FAIL", null],
    ["chains not set", null, "FAIL", null],
    ["chains of another shape", "any", "MANUAL", "unreadable"],
    ["a chain of another shape", ["any"], "MANUAL", "unreadable"],
    ["a chain of another shape beside a chain of one step", ["any", chain([webauthn])], "FAIL", null],
    ["a chain of another shape beside a good one", ["any", chain([password], [webauthn])], "MANUAL", "unreadable"],
    ["a step without methods", [chain([])], "MANUAL", "unreadable"],
    ["a chain without an end", [endless(50)], "MANUAL", "unreadable"],
  ])("%s is %s", (_, chains, status, reason) => {
    expect(judgeChains(check, chains)).toMatchObject({ status, reason });
  });
});

describe.each(phishingChecks)("%s", (check) => {
  const required = { possession: { phishingResistant: "REQUIRED" } };

  test.each<[constraints: unknown, status: string, reason: string | null]>([
    [[required], "PASS", null],
    [[required, required], "PASS", null],
    [[{ knowledge: { types: ["password"] }, ...required }], "PASS", null],
    [[{ possession: { required: true, phishingResistant: "REQUIRED" } }], "PASS", null],
    [[{ possession: { required: null, phishingResistant: "REQUIRED" } }], "PASS", null],
    [[required, { possession: { required: false, phishingResistant: "REQUIRED" } }], "MANUAL", "needs_review"],
    [[{ possession: { required: "no", phishingResistant: "REQUIRED" } }], "MANUAL", "unreadable"],
    [[{ possession: { required: false, phishingResistant: "OPTIONAL" } }], "FAIL", null],
    [[required, { possession: { phishingResistant: "OPTIONAL" } }], "FAIL", null],
    [[required, { possession: { deviceBound: "REQUIRED" } }], "FAIL", null],
    [[required, { knowledge: { types: ["password"] } }], "FAIL", null],
    [[{ possession: { phishingResistant: null } }], "FAIL", null],
    [[], "FAIL", null],
    [null, "FAIL", null],
    [undefined, "FAIL", null],
    [[{ possession: { phishingResistant: "SOMETIMES" } }], "MANUAL", "unreadable"],
    [[{ possession: { phishingResistant: true } }], "MANUAL", "unreadable"],
    [[required, { possession: { phishingResistant: "SOMETIMES" } }], "MANUAL", "unreadable"],
    [[{ possession: { phishingResistant: "SOMETIMES" } }, { possession: {} }], "FAIL", null],
    [["phishing resistant"], "MANUAL", "unreadable"],
    [{ possession: { phishingResistant: "REQUIRED" } }, "MANUAL", "unreadable"],
  ])("the constraints %j are %s", (constraints, status, reason) => {
    expect(judgeRules(check, [set(anAccessRule(), `${method}.constraints`, constraints)])).toMatchObject({
      status,
      reason,
    });
  });

  test.each<[what: string, chains: unknown, status: string, reason: string | null]>([
    ["password then WebAuthn", [chain([password], [webauthn])], "PASS", null],
    ["WebAuthn alone", [chain([webauthn])], "PASS", null],
    ["a smart card", [chain([{ key: "smart_card_idp", method: "cert" }])], "PASS", null],
    ["FastPass that is required to resist", [chain([{ ...fastPass, phishingResistant: "REQUIRED" }])], "PASS", null],
    ["FastPass that is not", [chain([fastPass])], "MANUAL", "needs_review"],
    ["FastPass after WebAuthn", [chain([webauthn], [fastPass])], "PASS", null],
    ["password then email", [chain([password], [email])], "FAIL", null],
    ["one lax chain of two", [chain([webauthn]), chain([password], [email])], "FAIL", null],
    ["a step with a lax alternative", [chain([password], [webauthn, email])], "FAIL", null],
    ["an unknown method", [chain([password], [{ key: "brain_wave" }])], "MANUAL", "unreadable"],
    ["an unknown method beside a lax one", [chain([password], [{ key: "brain_wave" }, email])], "FAIL", null],
    ["an unknown value", [chain([{ ...fastPass, phishingResistant: "SOMETIMES" }])], "MANUAL", "unreadable"],
    ["no chain", [], "FAIL", null],
  ])("%s is %s", (_, chains, status, reason) => {
    expect(judgeChains(check, chains)).toMatchObject({ status, reason });
  });
});

const password = { key: "okta_password", method: "password" };
const email = { key: "okta_email", method: "email" };
const webauthn = { key: "webauthn", method: "webauthn" };
const fastPass = { key: "okta_verify", method: "signed_nonce" };

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
