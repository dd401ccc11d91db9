import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import {
  aDefaultRule,
  adminConsoleApp,
  aLaxRule,
  anAccessRule,
  anEveryoneGroup,
  aSessionPolicy,
  aSessionRule,
  aZone,
  evaluate,
  lastRule,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";

/** Rules in their order: who comes to the next one. */

const idle = "signon_global_session_idle_timeout_15min";
const zones = "signon_global_session_policy_network_zone_enforced";
const mfa = "application_admin_console_mfa_required";
const groups = obtained([
  anEveryoneGroup(),
  { id: "00gAdmins", type: "BUILT_IN", profile: { name: "Okta Administrators" } },
  { id: "00gFake", type: "OKTA_GROUP", profile: { name: "Everyone" } },
]);
const forEveryone = { people: { groups: { include: ["00gEveryone"] } } };
const inZone = { network: { connection: "ZONE", include: ["nzo1"] } };

describe("a strict rule before a lax one leaves somebody to it", () => {
  test.each<[conditions: unknown, isRestricted: boolean]>([
    [undefined, false],
    [{}, false],
    ["everybody", true],
    [{ network: { connection: "ANYWHERE" } }, false],
    [inZone, true],
    [{ riskScore: { level: "ANY" } }, false],
    [{ riskScore: { level: "HIGH" } }, true],
    [{ platform: { include: [{ type: "ANY", os: { type: "ANY" } }] } }, false],
    [{ platform: { include: [{ type: "ANY", os: { type: "IOS" } }] } }, true],
    [{ platform: { include: [{ type: "MOBILE", os: { type: "ANY" } }] } }, true],
    [{ device: { registered: false, managed: false } }, false],
    [{ device: { managed: false, registered: true } }, true],
    [{ device: { registered: "false" } }, true],
    [{ elCondition: { condition: "" } }, false],
    [{ elCondition: { condition: 'user.profile.department == "IT"' } }, true],
    [{ somethingNew: { level: 1 } }, true],
    [forEveryone, false],
    [{ people: { groups: { include: ["00g1", "00gEveryone"] } } }, false],
    [{ people: { groups: { include: ["00gEveryone"], exclude: ["00g1"] } } }, true],
    [{ people: { groups: { include: ["00gFake"] } } }, true],
  ])("with the conditions %j: %s", (conditions, isRestricted) => {
    for (const [check, lax] of [[mfa, lastRule()] as const, [idle, aDefaultRule()] as const]) {
      const result = judge(check, [strict({ conditions }, check), lax]);
      expect([outcomeOf(result), result.reason]).toEqual(["PASS", isRestricted ? "partly_automated" : null]);
      if (isRestricted)
        expect(result.findings[0]?.detail).toMatch(
          /: Rule "Strict" has conditions \(\w+\); users who match no earlier rule reach the rule "\w+(-all)? Rule", which is FAIL: /,
        );
    }
  });
});

describe("a rule that denies, with conditions that cannot be read, is MANUAL before a lax one, PASS before a strict one", () => {
  const denies = (conditions: unknown) => strict({ conditions, actions: { appSignOn: { access: "DENY" } } });
  const next = strict({ id: "next", name: "Next", priority: 2 });

  test.each([
    "everybody",
    { people: "everybody" },
    { people: { users: { exclude: [7] } } },
    { people: { groups: { include: ["00g1", 7] } } },
    { network: { connection: "Anywhere" } },
    { device: { registered: "false" } },
    { platform: { include: [{ type: "Any", os: { type: "ANY" } }] } },
  ])("%j", (conditions) => {
    const result = judge(mfa, [denies(conditions), lastRule()]);
    expect(outcomeOf(result)).toBe("unreadable");
    expect(result.detail).toMatch(/the condition "\w+" of rule "Strict"/);
    expect(judge(mfa, [denies(conditions), next]).status).toBe("PASS");
  });

  test("those that leave somebody to a lax rule in any case: FAIL", () => {
    const conditions = { people: { users: { exclude: [7] } }, riskScore: { level: "HIGH" } };
    expect(judge(mfa, [denies(conditions), lastRule()]).status).toBe("FAIL");
  });

  test("the group Everyone, which was not read or is of another type", () => {
    const otherType = obtained([{ ...anEveryoneGroup(), type: "Built_in" }]);
    const unread = missing<JsonList>("missing_scope", "groups.read is not granted");
    for (const [found, reason, said] of [
      [unread, "missing_scope", "groups.read is not granted"],
      [otherType, "missing_role", "answers without the group Everyone"],
      [null, "unreadable", ""],
    ] as const) {
      const denied = judge(mfa, [denies(forEveryone), lastRule()], found);
      const allowed = judge(mfa, [strict({ conditions: forEveryone }), lastRule()], found);
      expect([denied.reason, allowed.reason]).toEqual([reason, "partly_automated"]);
      for (const { detail } of [denied, allowed]) expect(detail).toContain(said);
      if (said !== "")
        expect(allowed.detail).toMatch(/\(people\), unless it is for the group Everyone: .*; users who match/);
      expect(judge(mfa, [denies(forEveryone), next], found).status).toBe("PASS");
    }
  });
});

type Row = [what: string, rules: JsonList, outcome: string, remains?: RegExp];

function expectRow(check: string, [, rules, outcome, remains]: Row): void {
  const result = judge(check, rules);
  expect(result.automated === "PASS" ? "partly" : result.status).toBe(outcome);
  if (remains !== undefined) expect(result.findings[0]?.detail).toMatch(remains);
}

describe("the rules of an app", () => {
  const office = strict({ conditions: inZone });
  const deny = (changes: JsonObject) =>
    strict({ id: "d", name: "Deny", actions: { appSignOn: { access: "DENY" } }, ...changes });

  test.each<Row>([
    ["a strict one for some, then a lax one", [office, lastRule()], "partly", /"Catch-all Rule".* is FAIL/],
    ["a DENY for everybody, then a lax one", [office, deny({ priority: 1, conditions: null }), lastRule()], "PASS"],
    ["a lax one of unknown status", [office, aLaxRule({ status: "PAUSED" })], "partly", /"Lax".* cannot be read/],
    ["a DENY for some, then a lax one", [deny({ conditions: inZone }), lastRule()], "FAIL"],
    ["one of unknown status, as strict as the next", [strict({ status: "PAUSED" }), strict({ id: "b" })], "PASS"],
    ["only ones of unknown status", [strict({ status: "PAUSED" })], "MANUAL"],
    ["no active one", [strict({ status: "INACTIVE" })], "FAIL"],
    ["two of one priority that disagree", [strict({}), aLaxRule({ priority: 0 })], "MANUAL"],
  ])("%s", (...row) => expectRow(mfa, row));
});

describe("the rules of a session policy", () => {
  const session = (changes: JsonObject) => strict(changes, idle);
  const deny = (changes: JsonObject) =>
    set(session({ id: "d", name: "Deny", ...changes }), "actions.signon.access", "DENY");
  const office = session({ conditions: inZone });
  const second = { id: "0pr2", priority: 2 };
  const lax = set(session({}), "actions.signon.session.maxSessionIdleMinutes", 60);

  test.each<Row>([
    ["a DENY for a zone, and no other", [deny({ conditions: inZone })], "PASS"],
    ["a DENY for a zone, then a strict one", [deny({ conditions: inZone }), session(second)], "PASS"],
    ["a DENY for a zone, then a lax one", [deny({ conditions: inZone }), aDefaultRule()], "FAIL"],
    [
      "a DENY for a zone of unknown status, then a strict one",
      [deny({ conditions: inZone, status: "PAUSED" }), session(second)],
      "MANUAL",
    ],
    ["a priority in a text", [session({ priority: "1" })], "MANUAL"],
    ["the built-in one at priority 1 beside another", [aDefaultRule({ priority: 1 }), session({})], "PASS"],
    ["a lax one that may be built in", [{ ...lax, system: "false" }], "FAIL"],
    ["an inactive one, then a strict one", [session({ status: "INACTIVE" }), session(second)], "MANUAL", /inactive/],
    ["an inactive one, then a lax one", [session({ status: "INACTIVE" }), { ...lax, ...second }], "FAIL"],
  ])("%s", (...row) => expectRow(idle, row));

  test.each<Row>([
    [
      "a later one from anywhere",
      [office, aDefaultRule()],
      "partly",
      /: Rule "Strict" .* which is FAIL: ANYWHERE.*; Verify /,
    ],
    ["a DENY for everybody", [deny({}), aDefaultRule()], "partly", /: Verify [^;]*\.$/],
    [
      "a DENY for a zone that is gone and one of nearly every address",
      [deny({ conditions: from("nzoGone", "nzoBroad") }), aDefaultRule()],
      "partly",
      /: Verify [^;]*\.$/,
    ],
    [
      "a DENY for one user from a zone",
      [deny({ conditions: { ...from("nzo1"), people: { users: { include: ["00u1"] } } } }), aDefaultRule()],
      "partly",
      /"Default Rule".* is FAIL: ANYWHERE/,
    ],
    ["a DENY for a zone that is gone", [deny({ conditions: from("nzoGone") }), aDefaultRule()], "FAIL"],
  ])("about zones: %s", (...row) => expectRow(zones, row));

  test("a custom policy without active rules is left out and named; without the Default Policy only a FAIL is proven", () => {
    const custom = aSessionPolicy({ id: "00p2", name: "Contractors", system: false });
    const judgeAll = (...policies: readonly (readonly [JsonObject, ...JsonObject[]])[]) =>
      evaluate(idle, {
        global_session_policies: obtained(policies.map(([policy, ...rules]) => ({ policy, rules: obtained(rules) }))),
      });
    const both = judgeAll([aSessionPolicy(), session({})], [custom, { ...lax, status: "INACTIVE" }]);
    expect([outcomeOf(both), both.findings.length]).toEqual(["PASS", 1]);
    expect(both.detail).toContain('does not consider policies without active rules: "Contractors"');
    expect(judgeAll([aSessionPolicy()]).status).toBe("FAIL");
    expect(outcomeOf(judgeAll([custom, session({})]))).toBe("missing_role");
    expect(judgeAll([custom, lax]).findings.map(({ status }) => status)).toContain("FAIL");
  });

  test("behind 20,000 rules that are for some, the last rule still decides", () => {
    const some = { people: { users: { exclude: ["00u1"] } } };
    const many = Array.from({ length: 20_000 }, (_, index) =>
      deny({ id: `d${index}`, priority: index + 1, conditions: some }),
    );
    const last = { ...lax, priority: 20_001 };
    expect(outcomeOf(judge(idle, [...many, last]))).toBe("FAIL");
    const tied = many.map((_, index) => session({ id: `t${index}`, conditions: some }));
    expect(judge(idle, [...tied, last]).reason).toBe("partly_automated");
  });

  function from(...include: readonly string[]): JsonObject {
    return { network: { connection: "ZONE", include } };
  }
});

function strict(changes: JsonObject, check = mfa): JsonObject {
  const base = check === idle ? aSessionRule({ conditions: undefined }) : anAccessRule({ conditions: undefined });
  return { ...base, name: "Strict", ...changes };
}

function judge(check: string, rules: JsonList, found: Evidence<JsonList> | null = groups) {
  return evaluate(check, {
    admin_console_app: obtained({ app: adminConsoleApp, rules: obtained(rules) }),
    global_session_policies: obtained([{ policy: aSessionPolicy(), rules: obtained(rules) }]),
    network_zones: obtained([
      aZone(),
      aZone({ id: "nzoBroad", gateways: [{ type: "RANGE", value: "9.0.0.0-223.255.255.255" }] }),
    ]),
    built_in_groups: found ?? undefined,
  });
}
