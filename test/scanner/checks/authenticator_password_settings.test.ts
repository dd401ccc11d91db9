import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { aPasswordPolicy, evaluate, outcomeOf, set } from "../../support/artifact_builders.ts";

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
    expect(outcomeOf(judge(value))).toBe("unreadable");
  });

  test("settings that are absent FAIL, and settings of another shape are unreadable", () => {
    const without = evaluate(check, { password_policies: obtained([aPasswordPolicy({ settings: null })]) });
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
    expect(outcomeOf(judgeBeside(aPasswordPolicy()))).toBe("unreadable");
    expect(judgeBeside(set(aPasswordPolicy(), `${settings}.${path}`, fails[0])).status).toBe("FAIL");
  });

  test("a list that broke off proves a lax policy and no strict one", () => {
    const lax = set(aPasswordPolicy({ id: "00pq" }), `${settings}.${path}`, fails[0]);
    const brokeOff = (policies: readonly ReturnType<typeof aPasswordPolicy>[]) =>
      evaluate(check, { password_policies: missing("provider_error", "page 2 failed", policies) });
    expect(outcomeOf(brokeOff([aPasswordPolicy()]))).toBe("provider_error");
    expect(brokeOff([aPasswordPolicy(), lax]).status).toBe("FAIL");
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

describe("authenticator_password_lockout_threshold_3", () => {
  const check = "authenticator_password_lockout_threshold_3";

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
  ])("leaves a policy of the provider %j to %s", (provider, outcome) => {
    const lax = set(aPasswordPolicy(), `${settings}.lockout.maxAttempts`, 10);
    const policy = set(lax, "conditions.authProvider.provider", provider);
    expect(outcomeOf(evaluate(check, { password_policies: obtained([policy]) }))).toBe(outcome);
  });

  const directory = set(aPasswordPolicy({ id: "00pad", name: "Corp" }), "conditions.authProvider.provider", "LDAP");
  const of = (provider: string, changes = {}) =>
    set(aPasswordPolicy(changes), "conditions.authProvider.provider", provider);
  const lax = set(aPasswordPolicy(), `${settings}.lockout.maxAttempts`, 0);

  test.each<[what: string, others: JsonList, outcome: string]>([
    ["a strict one of Okta's", [of("OKTA")], "PASS"],
    ["a strict one for any provider", [of("ANY")], "PASS"],
    ["a lax one", [lax], "FAIL"],
    ["one of an unknown provider", [of("SUN")], "unreadable"],
    ["nothing that can be read", [{}], "unreadable"],
    ["an inactive one of Okta's", [of("OKTA", { status: "INACTIVE" })], "not_applicable"],
    ["another directory's", [of("ACTIVE_DIRECTORY")], "not_applicable"],
  ])("a directory's policy and $0: $2", (_, others, outcome) => {
    const result = evaluate(check, { password_policies: obtained([directory, ...others]) });
    expect(outcomeOf(result)).toBe(outcome);
    const theirs = result.findings.find(({ resource }) => resource.name === "Corp");
    expect(theirs).toMatchObject({ status: "MANUAL", reason: "not_applicable", advisory: true });
    const passes = result.findings.filter(({ automated }) => automated === "PASS");
    for (const { detail } of passes) expect(detail).toContain('"Corp"');
    expect(passes).toHaveLength(outcome === "PASS" ? 1 : 0);
  });

  test("exempts from no other check", () => {
    const policy = set(aPasswordPolicy(), "conditions.authProvider.provider", "LDAP");
    const result = evaluate("authenticator_password_history_5", { password_policies: obtained([policy]) });
    expect(result.status).toBe("PASS");
  });
});
