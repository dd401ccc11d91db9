import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { Engine } from "../../../shared/report.ts";
import {
  aCatchAll,
  adminConsoleApp,
  anAccessRule,
  anApp,
  aZone,
  dashboardApp,
  evaluate,
  outcomeOf,
  lastRule,
  set,
} from "../../support/artifact_builders.ts";

const check = "application_authentication_policy_network_zone_enforced";

describe("the rules of an app", () => {
  test.each<[what: string, rules: JsonList, outcome: string]>([
    [
      "an open rule that denies",
      [anAccessRule(), set(anOpenRule(), "actions.appSignOn.access", "DENY"), aCatchAll()],
      "PASS",
    ],
    ["only rules that deny", [set(anAccessRule(), "actions.appSignOn.access", "DENY"), aCatchAll()], "needs_review"],
    [
      "a rule of unknown access",
      [anAccessRule(), set(anOpenRule(), "actions.appSignOn.access", "ASK"), aCatchAll()],
      "unreadable",
    ],
    ["only the catch-all", [aCatchAll()], "FAIL"],
    [
      "a catch-all with an unknown access",
      [anAccessRule(), set(aCatchAll(), "actions.appSignOn.access", "ASK")],
      "unreadable",
    ],
    ["only inactive rules", [anAccessRule({ status: "INACTIVE" })], "FAIL"],
    ["the legacy network", [withNetwork({ connection: "ON_NETWORK" }), aCatchAll()], "needs_review"],
    ["an unknown status", [anAccessRule({ status: "PAUSED" }), anAccessRule({ id: "b" }), aCatchAll()], "unreadable"],
    ["an open rule that may be the catch-all", [anOpenRule({ system: "no" }), anAccessRule(), aCatchAll()], "FAIL"],
    ["an open rule beside null", [anOpenRule(), aCatchAll(), null as unknown as JsonObject], "FAIL"],
    ["a system flag that is a text", [anAccessRule({ system: "no" }), aCatchAll()], "unreadable"],
  ])("$0: $2", (_, rules, outcome) => {
    expect(outcomeOf(judge([anApp()], { rst1: obtained(rules) }))).toBe(outcome);
  });
});

describe("the apps", () => {
  const good = { rst1: obtained([anAccessRule(), aCatchAll()]) };

  test("that are {} are evidence of nothing", () => {
    expect(outcomeOf(judge([adminConsoleApp, {}], good))).toBe("unreadable");
  });

  test("of a part of the list leave to a person what was not seen, and DISA's sentence", () => {
    const { findings } = judge([adminConsoleApp, anApp()], good);
    expect(findings).toHaveLength(2);
    for (const finding of findings) {
      expect(finding).toMatchObject({ automated: "PASS", reason: "partly_automated" });
      expect(finding.detail).toContain("all necessary allow and block");
      expect(finding.detail).toContain("2 apps that the administrator role of this run sees");
    }
  });

  test("of a part of the list FAIL without a word of what was not seen", () => {
    const result = judge([anApp({ _links: {} })], good);
    expect(result.status).toBe("FAIL");
    expect(result.detail).not.toContain("administrator role");
  });

  test("are named with the policy to change, and Okta's own are marked", () => {
    const access_policies = obtained([{ id: "rst1", name: "Any two factors" }]);
    const apps = obtained([adminConsoleApp, dashboardApp, anApp()]);
    const app_policy_rules = obtained({ rst1: obtained([lastRule()]) });
    const { findings } = evaluate(check, { apps, app_policy_rules, network_zones: obtained([]), access_policies });
    for (const { status, detail, resource } of findings) {
      expect(status).toBe("FAIL");
      expect(detail).toContain('in the policy "Any two factors"');
      expect(detail.includes("Okta's own apps")).toBe(resource.name !== "Payroll");
    }
  });

  const service = { settings: { oauthClient: { application_type: "service" } } };
  const directory = { name: "active_directory", signOnMode: null, features: ["PROFILE_MASTERING"], _links: {} };
  const openLink = { accessPolicy: { href: "/policies/rstOpen" } };

  test.each<[what: string, app: JsonObject, outcome: string]>([
    ["a service app without a policy", anApp({ ...service, _links: {} }), "left out"],
    [
      "a web app without a policy",
      anApp({ settings: { oauthClient: { application_type: "web" } }, _links: {} }),
      "FAIL",
    ],
    ["Active Directory", anApp(directory), "left out"],
    ["Active Directory with an open policy", anApp({ ...directory, _links: openLink }), "left out"],
    ["an HR source with an open policy", anApp({ ...directory, name: "workday", _links: openLink }), "left out"],
    ["an app without a sign-on mode", anApp({ signOnMode: null, features: [], _links: openLink }), "left out"],
    [
      "a directory with a sign-on and an open policy",
      anApp({ ...directory, signOnMode: "SAML_2_0", _links: openLink }),
      "FAIL",
    ],
    ["a directory from evidence without sign-on modes", anApp({ name: "active_directory", _links: {} }), "FAIL"],
    ["an inactive service app", anApp({ ...service, status: "INACTIVE" }), "not there"],
  ])("$0 is $2", (_, app, outcome) => {
    const result = judge([adminConsoleApp, dashboardApp, { ...app, id: "0oaOne" }], {
      ...good,
      rstOpen: obtained([lastRule()]),
    });
    const finding = result.findings.find(({ resource }) => resource.id === "0oaOne");
    expect(finding?.reason ?? finding?.status ?? "none").toBe(/left|not/.test(outcome) ? "none" : outcome);
    const isLeftOut = outcome === "left out";
    for (const { detail } of result.findings)
      expect(detail.includes("left out, because nobody signs in there: 1 ")).toBe(isLeftOut);
    const alone = judge([{ ...app, id: "0oaOne" }], {});
    if (isLeftOut) expect(alone.findings).toMatchObject([{ status: "MANUAL", resource: { type: "org" } }]);
  });

  test("that comply are named with their zones and addresses", () => {
    const { detail } = judge([adminConsoleApp, dashboardApp, anApp()], good);
    expect(detail).toContain('rule "Known networks" in zone "Offices" (192.0.2.0/24)');
  });

  test("that are left out are counted and named, by kind", () => {
    const sources = ["corp.example", "people.csv"].map((label) => anApp({ ...directory, id: label, label }));
    const { detail } = judge([adminConsoleApp, dashboardApp, ...sources, anApp({ ...service, id: "0oaS" })], good);
    expect(detail).toContain('1 service app, "Payroll"; 2 directories, "corp.example", "people.csv"');
  });

  test.each<[what: string, apps: JsonList, reason: string]>([
    ["an empty answer, as for a role that sees nothing", [], "partly_automated"],
    ["the service app only, as for a Read-Only Administrator", [anApp(service)], "partly_automated"],
    [
      "only inactive apps of a whole answer",
      [adminConsoleApp, dashboardApp].map((app) => ({ ...app, status: "INACTIVE" })),
      "needs_review",
    ],
  ])("none active: %s", (_, apps, reason) => {
    expect(judge(apps, {})).toMatchObject({ status: "MANUAL", reason });
  });

  test("a list that broke off proves an open app, and nothing else", () => {
    const apps = missing("provider_error", "page 2 failed", [adminConsoleApp, anApp({ _links: {} })]);
    const result = evaluate(check, {
      apps,
      app_policy_rules: missing("provider_error", "page 2 failed", good),
      network_zones: obtained([aZone()]),
    });
    expect(result.findings.map(({ resource, status }) => [resource.name, status])).toEqual([
      ["Payroll", "FAIL"],
      ["acme.okta.com", "MANUAL"],
    ]);
  });

  test("a list that is not whole does not hide what the whole rules of one policy lack", () => {
    const [policyId = ""] = Object.keys(good);
    const result = evaluate(check, {
      apps: missing("unreadable", "an entry is null", [anApp()]),
      app_policy_rules: missing("unreadable", "an entry is null", { [policyId]: obtained([anAccessRule()]) }),
      network_zones: obtained([aZone()]),
    });
    expect(result.findings.map(({ status }) => status)).toEqual(["FAIL", "MANUAL"]);
  });

  test("whose rules were not requested are MANUAL", () => {
    expect(outcomeOf(judge([anApp()], {}))).toBe("provider_error");
    const refused = missing<never>("missing_scope", "policies.read is not granted");
    const result = evaluate(check, {
      apps: obtained([anApp()]),
      app_policy_rules: refused,
      network_zones: obtained([aZone()]),
    });
    expect(outcomeOf(result)).toBe("missing_scope");
  });

  test("ten thousand have ten thousand findings", () => {
    const apps = Array.from({ length: 10_000 }, (_, index) => anApp({ id: `0oa${index}`, label: `App ${index}` }));
    const result = judge([adminConsoleApp, ...apps], good);
    expect(result.findings).toHaveLength(10_001);
  });
});

function anOpenRule(changes: JsonObject = {}): JsonObject {
  return anAccessRule({
    id: "rulOpen",
    name: "Everybody",
    conditions: { network: { connection: "ANYWHERE" } },
    ...changes,
  });
}

function withNetwork(network: JsonObject): JsonObject {
  return anAccessRule({ conditions: { network } });
}

function judge(apps: JsonList, rules: Record<string, Evidence<JsonList>>, engine: Engine = "identity") {
  const network_zones = obtained([aZone()]);
  return evaluate(check, { apps: obtained(apps), app_policy_rules: obtained(rules), network_zones }, { engine });
}
