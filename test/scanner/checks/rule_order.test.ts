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
  dashboardApp,
  evaluate,
  outcomeOf,
  lastRule,
  set,
} from "../../support/artifact_builders.ts";

const idle = "signon_global_session_idle_timeout_15min";
const zones = "signon_global_session_policy_network_zone_enforced";
const mfa = "application_admin_console_mfa_required";
const appChecks = [
  mfa,
  "application_dashboard_mfa_required",
  "application_admin_console_phishing_resistant_authentication",
  "application_dashboard_phishing_resistant_authentication",
];
const groups = obtained([
  anEveryoneGroup(),
  { id: "00gAdmins", type: "BUILT_IN", profile: { name: "Okta Administrators" } },
  { id: "00gFake", type: "OKTA_GROUP", profile: { name: "Everyone" } },
]);

/** What a first rule has for conditions, and whether they leave somebody to the next rule. */
const conditions: readonly (readonly [conditions: unknown, isRestricted: boolean])[] = [
  [undefined, false],
  [null, false],
  [{}, false],
  ["everybody", true],
  [{ network: { connection: "ANYWHERE" } }, false],
  [{ network: { connection: "ANYWHERE", include: ["nzo1"] } }, false],
  [{ network: { connection: null, include: [], exclude: [] } }, false],
  [{ network: { connection: "ZONE", include: ["nzo1"] } }, true],
  [{ network: { include: ["nzo1"] } }, true],
  [{ network: { connection: "ZONE", include: ["nzoWide"] } }, true],
  [{ riskScore: { level: "ANY" } }, false],
  [{ riskScore: { level: "HIGH" } }, true],
  [{ risk: { behaviors: [] } }, false],
  [{ risk: { behaviors: ["beh1"] } }, true],
  [{ authContext: { authType: "ANY" } }, false],
  [{ authContext: { authType: "RADIUS" } }, true],
  [{ identityProvider: { provider: "ANY" } }, false],
  [{ identityProvider: { provider: "OKTA" } }, true],
  [{ platform: { include: [] } }, false],
  [{ platform: { include: [{ type: "ANY", os: { type: "ANY" } }] } }, false],
  [{ platform: { include: [{ type: "ANY", os: { type: "IOS" } }] } }, true],
  [{ platform: { include: [{ type: "MOBILE", os: { type: "ANY" } }] } }, true],
  [{ platform: { include: [], exclude: [{ type: "MOBILE" }] } }, true],
  [{ device: { registered: false, managed: false } }, false],
  [{ device: { managed: false, registered: true } }, true],
  [{ device: { assurance: { include: ["dae1"] } } }, true],
  [{ device: { registered: "false" } }, true],
  [{ userType: { include: [], exclude: [] } }, false],
  [{ userType: { exclude: ["oty1"] } }, true],
  [{ elCondition: { condition: "" } }, false],
  [{ elCondition: { condition: 'user.profile.department == "IT"' } }, true],
  [{ somethingNew: {} }, false],
  [{ somethingNew: { level: 1 } }, true],
  [{ people: { users: { include: [], exclude: [] }, groups: null } }, false],
  [{ people: { users: { include: ["00u1"] } } }, true],
  [{ people: { users: { exclude: ["00u1"] } } }, true],
  [{ people: { groups: { include: ["00g1"] } } }, true],
  [{ people: { groups: { exclude: ["00gEveryone"] } } }, true],
  [{ people: { groups: { include: "00gEveryone" } } }, true],
  [{ people: { groups: { include: ["00gEveryone"] } } }, false],
  [{ people: { groups: { include: ["00g1", "00gEveryone"] } } }, false],
  [{ people: { groups: { include: ["00gEveryone"], exclude: ["00g1"] } } }, true],
  [{ people: { groups: { include: ["00gEveryone"] }, users: { include: ["00u1"] } } }, true],
  [{ people: { groups: { include: ["00gAdmins"] } } }, true],
  [{ people: { groups: { include: ["00gFake"] } } }, true],
  [{ people: "everybody" }, true],
];

const partly = { status: "MANUAL", reason: "partly_automated", automated: "PASS" } as const;

describe.each([...appChecks, idle])("%s: a first rule whose conditions are", (check) => {
  test.each(conditions)("%j is restricted: %s", (found, isRestricted) => {
    const result = judge(check, [strict({ conditions: found }, check), laxLast(check)]);
    expect(result).toMatchObject(isRestricted ? partly : { status: "PASS" });
    if (isRestricted)
      expect(result.findings[0]?.detail).toMatch(
        /: Rule "Strict" has conditions \(\w+\); for everybody else the next rule "\w+(-all)? Rule" decides, which is FAIL: /,
      );
  });

  test("for the group Everyone is restricted where the groups were not read", () => {
    const forEveryone = { people: { groups: { include: ["00gEveryone"] } } };
    for (const unread of [null, missing<JsonList>("missing_scope", "groups.read is not granted")]) {
      const result = judge(check, [strict({ conditions: forEveryone }, check), laxLast(check)], unread);
      expect(result).toMatchObject(partly);
    }
  });
});

/** Conditions of which nobody can tell whether they leave anybody out. */
const unknownConditions: readonly unknown[] = [
  "everybody",
  { people: "everybody" },
  { people: { users: { exclude: [7] } } },
  { people: { users: { exclude: [null] } } },
  { people: { groups: { include: [{}] } } },
  { people: { groups: { include: ["00g1", 7] } } },
  { userType: { include: [[]], exclude: [] } },
  { network: { connection: "Anywhere" } },
  { riskScore: { level: "any" } },
  { device: { registered: "false" } },
  { platform: { include: [{ type: "Any", os: { type: "ANY" } }] } },
];

describe.each([...appChecks, idle])("%s: a first rule that denies, with conditions that cannot be read", (check) => {
  const access = check === idle ? { signon: { access: "DENY" } } : { appSignOn: { access: "DENY" } };
  const denies = (conditions: unknown) => strict({ conditions, actions: access }, check);
  const next = strict({ id: "next", name: "Next", priority: 2 }, check);

  test.each(unknownConditions)("%j: MANUAL before a lax rule, PASS before a strict one", (found) => {
    const lax = judge(check, [denies(found), laxLast(check)]);
    expect(outcomeOf(lax)).toBe("unreadable");
    expect(lax.detail).toMatch(/the condition "\w+" of rule "Strict"/);
    expect(judge(check, [denies(found), next]).status).toBe("PASS");
  });

  test.each([{ people: { users: { exclude: [7] } }, riskScore: { level: "HIGH" } }])(
    "%j, which leave somebody to a lax rule in any case: FAIL",
    (found) => {
      expect(judge(check, [denies(found), laxLast(check)]).status).toBe("FAIL");
    },
  );

  test("for the group Everyone is undecided where that group was not read", () => {
    const forEveryone = { people: { groups: { include: ["00gEveryone"] } } };
    const otherType = obtained([{ ...anEveryoneGroup(), type: "Built_in" }]);
    for (const unread of [null, missing<JsonList>("missing_scope", "groups.read is not granted"), otherType]) {
      expect(judge(check, [denies(forEveryone), laxLast(check)], unread).status).toBe("MANUAL");
    }
  });
});

const inZone = { network: { connection: "ZONE", include: ["nzo1"] } };
const forSome = { people: { groups: { include: ["00g1"] } } };
type Row = [what: string, rules: JsonList, outcome: string, remains?: RegExp];

describe("who comes to the next rule of an app", () => {
  const office = strict({ conditions: inZone });
  const managed = strict({ id: "b", name: "Managed", priority: 1, conditions: { device: { managed: true } } });
  const deny = (changes: JsonObject) => strict({ id: "d", name: "Deny", actions: denial, ...changes });
  const denial = { appSignOn: { access: "DENY" } };

  test.each<Row>([
    ["two strict rules, then a lax one", [office, managed, lastRule()], "partly", /"Catch-all Rule".* is FAIL/],
    ["a DENY for everybody, then a lax one", [office, deny({ priority: 1, conditions: null }), lastRule()], "PASS"],
    ["a lax rule of unknown status", [office, aLaxRule({ status: "PAUSED" })], "partly", /"Lax".* cannot be read/],
    ["a rule of unknown access", [office, aLaxRule({ actions: { appSignOn: { access: "ASK" } } })], "partly", /"ASK"/],
    [
      "a method that needs review",
      [office, aLaxRule({ actions: { appSignOn: { access: "ALLOW", verificationMethod: { type: "ID_PROOFING" } } } })],
      "partly",
      /MANUAL \(needs_review\)/,
    ],
    ["the first rule denies some, then a lax one", [deny({ conditions: forSome }), lastRule()], "FAIL"],
    [
      "the first rule is of unknown status, and strict as the next",
      [strict({ status: "PAUSED" }), strict({ id: "b", priority: 1 })],
      "PASS",
    ],
    ["only rules of unknown status", [strict({ status: "PAUSED" })], "MANUAL"],
    ["no active rule", [strict({ status: "INACTIVE" })], "FAIL"],
  ])("%s", (_, rules, outcome, remains) => {
    const result = judge(mfa, rules);
    expect(result.automated === "PASS" ? "partly" : result.status).toBe(outcome);
    if (remains !== undefined) expect(result.findings[0]?.detail).toMatch(remains);
  });
});

describe("who comes to the next rule of a session policy", () => {
  const session = (changes: JsonObject) => strict(changes, idle);
  const deny = (changes: JsonObject) =>
    set(session({ id: "d", name: "Deny", ...changes }), "actions.signon.access", "DENY");
  const values = { actions: aSessionRule()["actions"] };
  const office = session({ conditions: inZone });
  const other = { id: "0pr2", priority: 2 };

  test.each<Row>([
    ["a rule at priority 0", [office, { ...aDefaultRule(), priority: 0 }], "PASS"],
    ["the first denies a zone, and no rule follows", [deny({ conditions: inZone })], "PASS"],
    [
      "the first denies a zone, the Default Rule is strict",
      [deny({ conditions: inZone }), aDefaultRule(values)],
      "PASS",
    ],
    ["the first denies a zone, the Default Rule is lax", [deny({ conditions: inZone }), aDefaultRule()], "FAIL"],
    ["a strict rule whose access is unknown", [set(session({}), "actions.signon.access", "ASK")], "MANUAL"],
    [
      "a DENY of unknown status, then a strict rule",
      [deny({ conditions: inZone, status: "PAUSED" }), session(other)],
      "MANUAL",
    ],
  ])("%s", (_, rules, outcome, remains) => {
    const result = judge(idle, rules);
    expect(result.automated === "PASS" ? "partly" : result.status).toBe(outcome);
    if (remains !== undefined) expect(result.findings[0]?.detail).toMatch(remains);
  });

  test.each<Row>([
    [
      "a later rule from anywhere",
      [office, aDefaultRule()],
      "partly",
      /: Verify .*; Rule "Strict" .* "Default Rule" decides, which is FAIL: ANYWHERE/,
    ],
    ["the first denies everybody", [deny({}), aDefaultRule()], "partly", /: Verify [^;]*\.$/],
    [
      "the first denies a zone",
      [deny({ conditions: inZone }), aDefaultRule()],
      "partly",
      /"Default Rule" decides, which is FAIL/,
    ],
    [
      "the first denies a zone of every address",
      [deny({ conditions: { network: { include: ["nzoWide"] } } }), aDefaultRule()],
      "partly",
    ],
    [
      "the first denies a zone of nearly every address",
      [deny({ conditions: { network: { include: ["nzoBroad"] } } }), aDefaultRule()],
      "partly",
    ],
    [
      "the first denies a zone that is gone",
      [deny({ conditions: { network: { include: ["nzoGone"] } } }), aDefaultRule()],
      "FAIL",
    ],
  ])("of the rule about zones: %s", (_, rules, status, remains) => {
    const result = judge(zones, rules);
    expect(result.automated === "PASS" ? "partly" : result.status).toBe(status);
    if (remains !== undefined) expect(result.findings[0]?.detail).toMatch(remains);
  });
});

function strict(changes: JsonObject, check = mfa): JsonObject {
  const base = check === idle ? aSessionRule({ conditions: undefined }) : anAccessRule({ conditions: undefined });
  return { ...base, name: "Strict", ...changes };
}

function laxLast(check: string): JsonObject {
  return check === idle ? aDefaultRule() : lastRule();
}

function judge(check: string, rules: JsonList, found: Evidence<JsonList> | null = groups) {
  const app = obtained({ app: check.includes("dashboard") ? dashboardApp : adminConsoleApp, rules: obtained(rules) });
  return evaluate(check, {
    admin_console_app: app,
    dashboard_app: app,
    global_session_policies: obtained([{ policy: aSessionPolicy(), rules: obtained(rules) }]),
    network_zones: obtained([
      aZone(),
      aZone({ id: "nzoWide", gateways: [{ type: "CIDR", value: "0.0.0.0/0" }] }),
      aZone({ id: "nzoBroad", gateways: [{ type: "RANGE", value: "9.0.0.0-223.255.255.255" }] }),
    ]),
    built_in_groups: found ?? undefined,
  });
}
