import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import {
  aDefaultRule,
  aSessionPolicy,
  aSessionRule,
  aZone,
  evaluate,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";

const idle = "signon_global_session_idle_timeout_15min";
const lifetime = "signon_global_session_lifetime_18h";
const cookies = "signon_global_session_cookies_not_persistent";
const zones = "signon_global_session_policy_network_zone_enforced";
const session = "actions.signon.session";
/** What an element of a list can be that should be an object. */
const notAnObject = null as unknown as JsonObject;

describe("the setting of the deciding rule", () => {
  test.each<[check: string, path: string, value: unknown, outcome: string]>([
    [idle, `${session}.maxSessionIdleMinutes`, 0, "FAIL"],
    [idle, `${session}.maxSessionIdleMinutes`, 1, "PASS"],
    [idle, `${session}.maxSessionIdleMinutes`, 15, "PASS"],
    [idle, `${session}.maxSessionIdleMinutes`, 16, "FAIL"],
    [idle, `${session}.maxSessionIdleMinutes`, -1, "FAIL"],
    [idle, `${session}.maxSessionIdleMinutes`, 15.5, "FAIL"],
    [idle, `${session}.maxSessionIdleMinutes`, "15", "unreadable"],
    [lifetime, `${session}.maxSessionLifetimeMinutes`, 0, "FAIL"],
    [lifetime, `${session}.maxSessionLifetimeMinutes`, 1, "PASS"],
    [lifetime, `${session}.maxSessionLifetimeMinutes`, 1080, "PASS"],
    [lifetime, `${session}.maxSessionLifetimeMinutes`, 1081, "FAIL"],
    [cookies, `${session}.usePersistentCookie`, false, "PASS"],
    [cookies, `${session}.usePersistentCookie`, true, "FAIL"],
    [cookies, `${session}.usePersistentCookie`, null, "FAIL"],
    [cookies, `${session}.usePersistentCookie`, undefined, "FAIL"],
    [cookies, `${session}.usePersistentCookie`, "false", "unreadable"],
    [cookies, `${session}.usePersistentCookie`, 0, "unreadable"],
  ])("%s: %s = %j is %s", (check, path, value, outcome) => {
    const result = judge(check, [set(aSessionRule(), path, value), aDefaultRule()]);
    expect(outcomeOf(result)).toBe(outcome);
    expect(result.findings).toHaveLength(1);
  });

  test("names the resource, what was expected and what was found", () => {
    const result = judge(idle, [set(aSessionRule(), `${session}.maxSessionIdleMinutes`, 120)]);
    const [finding] = result.findings;
    expect(finding).toMatchObject({ resource: { type: "policy", id: "00p1", name: "Default Policy" } });
    expect(finding?.expected).toMatch(/1 to 15 minutes/);
    expect(finding?.actual).toBe('120 minutes in rule "STIG rule"');
    expect(finding?.detail).toBe(`Policy "Default Policy": expected ${finding?.expected}, found ${finding?.actual}.`);
  });

  test.each([["zero", 0, 'no limit (0) in rule "STIG rule"']])("shows %s in words", (_, value, actual) => {
    const result = judge(lifetime, [set(aSessionRule(), `${session}.maxSessionLifetimeMinutes`, value)]);
    expect(result.findings[0]?.actual).toBe(actual);
  });
});

describe("which rule decides", () => {
  test.each<[what: string, rules: JsonList, outcome: string]>([
    ["a priority in a text", [aSessionRule({ priority: "1" })], "unreadable"],
    ["a rule that carries the built-in's name", [aSessionRule({ name: "Default Rule" })], "FAIL"],
    ["a system flag that is a text", [aSessionRule({ system: "false" })], "unreadable"],
    ["no system flag", [aSessionRule({ system: undefined })], "PASS"],
    ["two rules at priority 1 that disagree", [aSessionRule(), idleFor(60)], "unreadable"],
    ["the built-in rule at priority 1 beside another", [aDefaultRule({ priority: 1 }), aSessionRule()], "PASS"],
    ["a lax rule with a priority in a text", [{ ...idleFor(60), priority: "1" }], "FAIL"],
    ["a lax rule that may be built in", [{ ...idleFor(60), system: "false" }], "FAIL"],
    ["a lax rule beside null", [idleFor(60), notAnObject], "FAIL"],
  ])("$0 is $2", (_, rules, outcome) => {
    expect(outcomeOf(judge(idle, rules))).toBe(outcome);
  });

  test("names the built-in rule", () => {
    const result = judge(cookies, [aDefaultRule({ priority: 1 })]);
    expect(result.findings[0]?.actual).toBe('the built-in rule "Default Rule" at priority 1');
  });
});

describe("which policies are judged", () => {
  test.each([["only inactive ones", [{ policy: aSessionPolicy({ status: "INACTIVE" }), rules: null }]]])(
    "%s: one FAIL for the org",
    (_, policies) => {
      for (const check of [idle, lifetime, cookies, zones]) {
        const result = evaluate(check, {
          global_session_policies: obtained(policies),
          network_zones: obtained([]),
        });
        expect(result.findings).toMatchObject([{ status: "FAIL", resource: { type: "org", name: "acme.okta.com" } }]);
      }
    },
  );

  test.each([[{ name: " ", status: "ACTIVE" }]])(
    "%j is evidence of nothing, and a lax policy beside it FAILs",
    (nothing) => {
      const withRules = (rule: JsonObject) => ({ policy: aSessionPolicy(), rules: obtained([rule]) });
      const unknown = { policy: nothing, rules: obtained([]) };
      const judgeBoth = (rule: JsonObject) =>
        evaluate(idle, { global_session_policies: obtained([withRules(rule), unknown]) });
      expect(outcomeOf(judgeBoth(aSessionRule()))).toBe("unreadable");
      expect(judgeBoth(idleFor(60)).status).toBe("FAIL");
    },
  );
});

describe("policies as Okta keeps them", () => {
  const withRules = (policy: JsonObject, ...rules: readonly JsonObject[]) => ({ policy, rules: obtained(rules) });
  const custom = aSessionPolicy({ id: "00p2", name: "Contractors", system: false });
  const judgeAll = (...policies: readonly ReturnType<typeof withRules>[]) =>
    evaluate(idle, { global_session_policies: obtained(policies) });
  const good = withRules(aSessionPolicy(), aSessionRule(), idleFor(15));

  test.each([[[]], [[idleFor(60)].map((rule) => ({ ...rule, status: "INACTIVE" }))]])(
    "a custom one without active rules is left out and named: %j",
    (rules) => {
      const result = judgeAll(good, withRules(custom, ...rules));
      expect(outcomeOf(result)).toBe("PASS");
      expect(result.findings).toHaveLength(1);
      expect(result.detail).toContain('does not consider policies without active rules: "Contractors"');
    },
  );

  test("the Default Policy needs a rule, and a custom one with a lax rule FAILs", () => {
    expect(judgeAll(withRules(aSessionPolicy())).status).toBe("FAIL");
    expect(judgeAll(good, withRules(custom, idleFor(60))).status).toBe("FAIL");
  });

  test("without the Default Policy they are a part of the list: only a FAIL is proven", () => {
    expect(outcomeOf(judgeAll(withRules(custom, aSessionRule())))).toBe("missing_role");
    expect(outcomeOf(judgeAll())).toBe("missing_role");
    expect(judgeAll(withRules(custom, idleFor(60))).findings.map(({ status }) => status)).toContain("FAIL");
  });

  test.each([
    ["a compliant rule", { ...idleFor(15), priority: 2 }, "needs_review"],
    ["a lax rule", { ...idleFor(60), priority: 2 }, "FAIL"],
    ["the built-in rule", aDefaultRule(), "FAIL"],
  ])("an inactive rule at priority 1 with %s behind it", (_, behind, outcome) => {
    const inactive = aSessionRule({ id: "0prOff", name: "Off", status: "INACTIVE" });
    const result = judge(idle, [inactive, behind]);
    expect(outcomeOf(result)).toBe(outcome);
    if (outcome === "needs_review") expect(result.detail).toContain('behind the inactive rule "Off" at priority 1');
  });
});

describe("rules that broke off", () => {
  test.each<[what: string, partial: JsonList | null, outcome: string]>([
    ["another rule seen", [aDefaultRule()], "provider_error"],
  ])("$0 is $2", (_, partial, outcome) => {
    const rules: Evidence<JsonList> = missing("provider_error", "the second page failed", partial);
    expect(outcomeOf(judge(idle, rules))).toBe(outcome);
  });
});

function idleFor(minutes: number): JsonObject {
  return set(aSessionRule({ id: `0pr${minutes}` }), `${session}.maxSessionIdleMinutes`, minutes);
}

function judge(check: string, rules: JsonList | Evidence<JsonList>, policy: JsonObject = aSessionPolicy()) {
  const evidence = "state" in rules ? rules : obtained(rules);
  return evaluate(check, {
    global_session_policies: obtained([{ policy, rules: evidence }]),
    network_zones: obtained([aZone()]),
  });
}
