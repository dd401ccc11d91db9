import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { aPasswordPolicy, evaluate, set } from "../../support/artifact_builders.ts";

const settings = "settings.password";

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
    evaluate(check, { password_policies: obtained([set(aPasswordPolicy(), `${settings}.${path}`, value)]) });

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
    expect(judge(value)).toMatchObject({ status: "MANUAL", reason: "unreadable" });
  });

  test("settings that are absent FAIL, and settings of another shape are unreadable", () => {
    const without = evaluate(check, { password_policies: obtained([aPasswordPolicy({ settings: null })]) });
    expect(without.findings).toMatchObject([{ status: "FAIL", actual: "not set" }]);
    const other = evaluate(check, { password_policies: obtained([aPasswordPolicy({ settings: "strict" })]) });
    expect(other).toMatchObject({ status: "MANUAL", reason: "unreadable" });
  });

  test("judges each active policy, and the org where there is none", () => {
    const policies = [
      aPasswordPolicy(),
      set(aPasswordPolicy({ id: "00pq", name: "Contractors", status: undefined }), `${settings}.${path}`, fails[0]),
      set(aPasswordPolicy({ id: "00pr", name: "Old", status: "INACTIVE" }), `${settings}.${path}`, fails[0]),
    ];
    const several = evaluate(check, { password_policies: obtained(policies) });
    expect(several.findings.map(({ resource, status }) => [resource.name, status])).toEqual([
      ["Contractors", "FAIL"],
      ["Default Policy", "PASS"],
    ]);
    const none = evaluate(check, { password_policies: obtained([]) });
    expect(none.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test.each([[null], [{}], ["policy"]])("%j is no policy, and a lax one beside it FAILs", (element) => {
    const nothing = element as ReturnType<typeof aPasswordPolicy>;
    const judgeBeside = (policy: ReturnType<typeof aPasswordPolicy>) =>
      evaluate(check, { password_policies: obtained([policy, nothing]) });
    expect(judgeBeside(aPasswordPolicy())).toMatchObject({ status: "MANUAL", reason: "unreadable" });
    expect(judgeBeside(set(aPasswordPolicy(), `${settings}.${path}`, fails[0])).status).toBe("FAIL");
  });

  test("a list that broke off proves a lax policy and no strict one", () => {
    const lax = set(aPasswordPolicy({ id: "00pq" }), `${settings}.${path}`, fails[0]);
    const brokeOff = (policies: readonly ReturnType<typeof aPasswordPolicy>[]) =>
      evaluate(check, { password_policies: missing("provider_error", "page 2 failed", policies) });
    expect(brokeOff([aPasswordPolicy()])).toMatchObject({ status: "MANUAL", reason: "provider_error" });
    expect(brokeOff([aPasswordPolicy(), lax]).status).toBe("FAIL");
  });
});

describe("authenticator_password_common_password_check", () => {
  test.each<[value: unknown, status: string, reason: string | null]>([
    [true, "PASS", null],
    [false, "FAIL", null],
    [null, "FAIL", null],
    [undefined, "FAIL", null],
    ["true", "MANUAL", "unreadable"],
    [1, "MANUAL", "unreadable"],
  ])("%j is %s", (value, status, reason) => {
    const policy = set(aPasswordPolicy(), `${settings}.complexity.dictionary.common.exclude`, value);
    const result = evaluate("authenticator_password_common_password_check", {
      password_policies: obtained([policy]),
    });
    expect(result).toMatchObject({ status, reason });
  });
});

describe("authenticator_password_lockout_threshold_3", () => {
  const check = "authenticator_password_lockout_threshold_3";

  test.each<[provider: unknown, status: string, reason: string | null]>([
    ["ACTIVE_DIRECTORY", "MANUAL", "not_applicable"],
    ["LDAP", "MANUAL", "not_applicable"],
    ["OKTA", "FAIL", null],
    ["ANY", "FAIL", null],
    ["provider", "MANUAL", "unreadable"],
    [7, "MANUAL", "unreadable"],
    ["okta", "FAIL", null],
    [null, "FAIL", null],
    [undefined, "FAIL", null],
  ])("leaves a policy of the provider %j to %s", (provider, status, reason) => {
    const lax = set(aPasswordPolicy(), `${settings}.lockout.maxAttempts`, 10);
    const policy = set(lax, "conditions.authProvider.provider", provider);
    expect(evaluate(check, { password_policies: obtained([policy]) })).toMatchObject({ status, reason });
  });

  const directory = set(aPasswordPolicy({ id: "00pad", name: "Corp" }), "conditions.authProvider.provider", "LDAP");
  const of = (provider: string, changes = {}) =>
    set(aPasswordPolicy(changes), "conditions.authProvider.provider", provider);
  const lax = set(aPasswordPolicy(), `${settings}.lockout.maxAttempts`, 0);

  test.each<[what: string, others: JsonList, status: string, reason: string | null]>([
    ["a strict one of Okta's", [of("OKTA")], "PASS", null],
    ["a strict one for any provider", [of("ANY")], "PASS", null],
    ["a lax one", [lax], "FAIL", null],
    ["one of an unknown provider", [of("SUN")], "MANUAL", "unreadable"],
    ["nothing that can be read", [{}], "MANUAL", "unreadable"],
    ["an inactive one of Okta's", [of("OKTA", { status: "INACTIVE" })], "MANUAL", "not_applicable"],
    ["another directory's", [of("ACTIVE_DIRECTORY")], "MANUAL", "not_applicable"],
  ])("a directory's policy and %s: %s", (_, others, status, reason) => {
    const result = evaluate(check, { password_policies: obtained([directory, ...others]) });
    expect(result).toMatchObject({ status, reason });
    const theirs = result.findings.find(({ resource }) => resource.name === "Corp");
    expect(theirs).toMatchObject({ status: "MANUAL", reason: "not_applicable", advisory: true });
    const passes = result.findings.filter((finding) => finding.status === "PASS");
    for (const { coverage_reason: open } of passes) expect(open).toContain('"Corp"');
    expect(passes).toHaveLength(status === "PASS" ? 1 : 0);
  });

  test("exempts from no other check", () => {
    const policy = set(aPasswordPolicy(), "conditions.authProvider.provider", "LDAP");
    const result = evaluate("authenticator_password_history_5", { password_policies: obtained([policy]) });
    expect(result.status).toBe("PASS");
  });
});
