import { describe, expect, test } from "vitest";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { missing, obtained, type CollectedArtifacts, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { adminConsoleApp, anApp, aPasswordPolicy, evaluate, outcomeOf, set } from "../../support/artifact_builders.ts";

const settings = "settings.password";
const lockout = "authenticator_password_lockout_threshold_3";
const noDirectory = { apps: obtained([adminConsoleApp]), saml_idps: obtained([]) };

interface Limit {
  readonly check: string;
  readonly path: string;
  readonly passes: readonly number[];
  readonly fails: readonly number[];
}

const limits: readonly Limit[] = [
  {
    check: "authenticator_password_minimum_length_15",
    path: "complexity.minLength",
    passes: [15, 16, 72],
    fails: [0, 8, 14],
  },
  {
    check: "authenticator_password_complexity_uppercase",
    path: "complexity.minUpperCase",
    passes: [1, 2],
    fails: [0, -1],
  },
  {
    check: "authenticator_password_complexity_lowercase",
    path: "complexity.minLowerCase",
    passes: [1, 2],
    fails: [0, -1],
  },
  { check: "authenticator_password_complexity_number", path: "complexity.minNumber", passes: [1, 2], fails: [0, -1] },
  { check: "authenticator_password_complexity_symbol", path: "complexity.minSymbol", passes: [1, 2], fails: [0, -1] },
  {
    check: "authenticator_password_minimum_age_24h",
    path: "age.minAgeMinutes",
    passes: [1440, 1441],
    fails: [0, 24, 1439],
  },
  { check: "authenticator_password_maximum_age_60d", path: "age.maxAgeDays", passes: [1, 59, 60], fails: [0, 61, -1] },
  { check: "authenticator_password_history_5", path: "age.historyCount", passes: [5, 6, 30], fails: [0, 4] },
  {
    check: "authenticator_password_lockout_threshold_3",
    path: "lockout.maxAttempts",
    passes: [1, 2, 3],
    fails: [0, 4, 10, -1],
  },
];

describe.each(limits)("$check", ({ check, path, passes, fails }) => {
  const judge = (value: unknown) =>
    evaluate(check, {
      password_policies: obtained([set(aPasswordPolicy(), `${settings}.${path}`, value)]),
      ...noDirectory,
    });

  test.each(passes.map((value) => [value]))("%d PASSes", (value) => {
    expect(judge(value).status).toBe("PASS");
  });

  test.each(fails.map((value) => [value]))("%d FAILs", (value) => {
    expect(judge(value).status).toBe("FAIL");
  });

  test.each([[null], [undefined]])("%j FAILs as not set", (value) => {
    const result = judge(value);
    expect(result.findings).toMatchObject([{ status: "FAIL", actual: "not set" }]);
  });

  test.each([["15"], [true], [{}], [[15]]])("%j is unreadable", (value) => {
    expect(outcomeOf(judge(value))).toBe("unreadable");
  });

  test("settings that are absent FAIL, and settings of another shape are unreadable", () => {
    const without = evaluate(check, {
      password_policies: obtained([aPasswordPolicy({ settings: null })]),
      ...noDirectory,
    });
    expect(without.findings).toMatchObject([{ status: "FAIL", actual: "not set" }]);
    const other = evaluate(check, { password_policies: obtained([aPasswordPolicy({ settings: "strict" })]) });
    expect(outcomeOf(other)).toBe("unreadable");
  });

  test("judges each active policy, and the org where there is none", () => {
    const policies = [
      aPasswordPolicy(),
      set(aPasswordPolicy({ id: "00pq", name: "Contractors", status: undefined }), `${settings}.${path}`, fails[0]),
      set(aPasswordPolicy({ id: "00pr", name: "Old", status: "INACTIVE" }), `${settings}.${path}`, fails[0]),
    ];
    const several = evaluate(check, { password_policies: obtained(policies), ...noDirectory });
    expect(several.findings.map(({ resource, status }) => [resource.name, status])).toEqual([
      ["Contractors", "FAIL"],
      ["Default Policy", "PASS"],
    ]);
    const inactive = obtained([aPasswordPolicy({ status: "INACTIVE" })]);
    const none = evaluate(check, { password_policies: inactive, ...noDirectory });
    expect(none.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test.each([[null], [{}], ["policy"]])("%j is no policy, and a lax one beside it FAILs", (element) => {
    const nothing = element as ReturnType<typeof aPasswordPolicy>;
    const judgeBeside = (policy: ReturnType<typeof aPasswordPolicy>) =>
      evaluate(check, { password_policies: obtained([policy, nothing]) });
    expect(outcomeOf(judgeBeside(aPasswordPolicy()))).toBe("unreadable");
    if (check !== lockout)
      expect(judgeBeside(set(aPasswordPolicy(), `${settings}.${path}`, fails[0])).status).toBe("FAIL");
  });

  test("a list that broke off proves a lax policy and no strict one", () => {
    const lax = set(aPasswordPolicy({ id: "00pq" }), `${settings}.${path}`, fails[0]);
    const brokeOff = (policies: readonly ReturnType<typeof aPasswordPolicy>[]) =>
      evaluate(check, { password_policies: missing("provider_error", "page 2 failed", policies) });
    expect(outcomeOf(brokeOff([aPasswordPolicy()]))).toBe("provider_error");
    if (check !== lockout) expect(brokeOff([aPasswordPolicy(), lax]).status).toBe("FAIL");
  });
});

describe("authenticator_password_common_password_check", () => {
  test.each<[value: unknown, outcome: string]>([
    [true, "PASS"],
    [false, "FAIL"],
    [null, "FAIL"],
    [undefined, "FAIL"],
    ["true", "unreadable"],
    [1, "unreadable"],
  ])("%j is %s", (value, outcome) => {
    const policy = set(aPasswordPolicy(), `${settings}.complexity.dictionary.common.exclude`, value);
    const result = evaluate("authenticator_password_common_password_check", {
      password_policies: obtained([policy]),
    });
    expect(outcomeOf(result)).toBe(outcome);
  });
});

const ofProvider = (provider: unknown, changes: JsonObject = {}) =>
  set(aPasswordPolicy(changes), "conditions.authProvider.provider", provider);
const directory = ofProvider("LDAP", { id: "00pad", name: "Corp" });

describe(lockout, () => {
  const lax = set(aPasswordPolicy(), `${settings}.lockout.maxAttempts`, 10);

  test.each<[provider: unknown, outcome: string]>([
    ["ACTIVE_DIRECTORY", "not_applicable"],
    ["LDAP", "not_applicable"],
    ["OKTA", "FAIL"],
    ["ANY", "FAIL"],
    ["provider", "unreadable"],
    [7, "unreadable"],
    ["okta", "FAIL"],
    [null, "FAIL"],
    [undefined, "FAIL"],
  ])("leaves a lax policy of the provider %j to %s", (provider, outcome) => {
    const policy = { ...set(lax, "conditions.authProvider.provider", provider), id: "00pq", system: false };
    const result = evaluate(lockout, { password_policies: obtained([aPasswordPolicy(), policy]), ...noDirectory });
    const finding = result.findings.find(({ resource }) => resource.id === "00pq");
    expect(finding?.reason ?? finding?.status).toBe(outcome);
  });

  test.each<[what: string, policy: JsonObject, outcome: string]>([
    ["a strict one of Okta's", aPasswordPolicy(), "PASS"],
    ["a strict one for any provider", ofProvider("ANY"), "PASS"],
    ["a lax one", lax, "needs_review"],
    ["one of an unknown provider", ofProvider("SUN"), "unreadable"],
  ])("a directory's policy and $0: $2", (_, policy, outcome) => {
    const result = evaluate(lockout, { password_policies: obtained([directory, policy]), ...noDirectory });
    expect(outcomeOf(result)).toBe(outcome);
    const theirs = result.findings.find(({ resource }) => resource.name === "Corp");
    expect(theirs).toMatchObject({ status: "MANUAL", reason: "not_applicable", advisory: true });
    const passes = result.findings.filter(({ automated }) => automated === "PASS");
    for (const { detail } of passes) expect(detail).toContain('"Corp"');
    expect(passes).toHaveLength(outcome === "PASS" ? 1 : 0);
  });

  test.each<[what: string, evidence: CollectedArtifacts, outcome: string]>([
    ["no directory", {}, "FAIL"],
    ["a directory app", { apps: obtained([anApp({ features: ["IMPORT_NEW_USERS"] })]) }, "needs_review"],
    ["apps that were refused", { apps: missing("missing_scope", "apps.read") }, "missing_scope"],
  ])("a lax Default Policy and $0: $2", (_, evidence, outcome) => {
    const result = evaluate(lockout, { password_policies: obtained([lax]), ...noDirectory, ...evidence });
    expect(outcomeOf(result)).toBe(outcome);
    if (outcome === "needs_review") expect(result.detail).toMatch(/10 attempts.* accounts exist that Okta masters/);
  });

  test("asks for directories only where a policy is lax", () => {
    const { conditionalArtifacts } = findCheck(lockout);
    expect(conditionalArtifacts({ password_policies: obtained([aPasswordPolicy()]) })).toEqual([]);
    expect(conditionalArtifacts({ password_policies: obtained([lax]) })).toContain("apps");
  });
});

describe("a directory's policy", () => {
  test.each<[check: string, path: string, outcome: string]>([
    ["authenticator_password_minimum_length_15", "complexity.minLength", "partly_automated"],
    ["authenticator_password_complexity_symbol", "complexity.minSymbol", "partly_automated"],
    ["authenticator_password_history_5", "age.historyCount", "FAIL"],
    ["authenticator_password_maximum_age_60d", "age.maxAgeDays", "FAIL"],
    ["authenticator_password_common_password_check", "complexity.dictionary.common.exclude", "FAIL"],
  ])("%s: a lax %s is %s", (check, path, outcome) => {
    const theirs = set(directory, `${settings}.${path}`, check.endsWith("check") ? false : 0);
    expect(outcomeOf(evaluate(check, { password_policies: obtained([aPasswordPolicy(), theirs]) }))).toBe(outcome);
  });

  test("leaves length and characters to the directory, which the finding names", () => {
    const ours = set(aPasswordPolicy(), `${settings}.complexity.minLength`, 8);
    const policies = obtained([ours, ofProvider("ACTIVE_DIRECTORY", { id: "00pad", name: "Corp" })]);
    const { findings } = evaluate("authenticator_password_minimum_length_15", { password_policies: policies });
    expect(findings).toMatchObject([
      { status: "MANUAL", detail: expect.stringContaining("Active Directory") as unknown },
      { status: "FAIL", resource: { name: "Default Policy" } },
    ]);
  });
});

test.each(limits)("$check: a list without the Default Policy never PASSes", ({ check, path, fails }) => {
  const judge = (...policies: JsonList) => evaluate(check, { password_policies: obtained(policies), ...noDirectory });
  const custom = aPasswordPolicy({ id: "00pq", name: "Contractors", system: false });
  expect(outcomeOf(judge())).toBe("missing_role");
  expect(outcomeOf(judge(custom))).toBe("missing_role");
  expect(outcomeOf(judge(custom, { ...directory, system: true }))).toBe("missing_role");
  expect(judge(aPasswordPolicy({ name: "Renamed" }), custom).status).toBe("PASS");
  if (check !== lockout) expect(judge(set(custom, `${settings}.${path}`, fails[0])).status).toBe("FAIL");
});
