import { describe, expect, test } from "vitest";
import { sha256 } from "../../../scanner/digest.ts";
import { causeId } from "../../../scanner/evaluate.ts";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import {
  aCatchAll,
  adminConsoleApp,
  anAccessRule,
  anApp,
  aZone,
  dashboardApp,
  evaluate,
  lastRule,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";

const access = "actions.appSignOn.access";
const anOpenRule = (changes: JsonObject = {}) =>
  anAccessRule({ id: "rulOpen", name: "Everybody", conditions: { network: { connection: "ANYWHERE" } }, ...changes });
const good = { rst1: obtained([anAccessRule(), aCatchAll()]), rstOpen: obtained([lastRule()]) };

function judge(apps: JsonList | Evidence<JsonList>, rules: Record<string, Evidence<JsonList>>, more = {}) {
  return evaluate("application_authentication_policy_network_zone_enforced", {
    apps: "state" in apps ? apps : obtained(apps),
    app_policy_rules: obtained(rules),
    network_zones: obtained([aZone()]),
    ...more,
  });
}

test.each<[what: string, rules: JsonList, outcome: string]>([
  ["a rule from a zone, and a catch-all that denies", [anAccessRule({ name: "Default Rule" }), aCatchAll()], "PASS"],
  ["an open rule that denies", [anAccessRule(), set(anOpenRule(), access, "DENY"), aCatchAll()], "PASS"],
  ["only rules that deny", [set(anAccessRule(), access, "DENY"), aCatchAll()], "needs_review"],
  ["only the catch-all", [aCatchAll()], "FAIL"],
  ["a catch-all that allows", [anAccessRule(), lastRule()], "FAIL"],
  ["an open rule that may be the catch-all", [anOpenRule({ system: "no" }), anAccessRule(), aCatchAll()], "FAIL"],
  ["an unknown status", [anAccessRule({ status: "PAUSED" }), anAccessRule({ id: "b" }), aCatchAll()], "unreadable"],
])("an app with %s: %s", (_, rules, outcome) => {
  expect(outcomeOf(judge([anApp()], { rst1: obtained(rules) }))).toBe(outcome);
});

test.each<[what: string, changes: JsonObject, type: "policy" | "policy_rule"]>([
  ["lets everybody in", {}, "policy_rule"],
  ["denies", { actions: { appSignOn: { access: "DENY" } } }, "policy"],
  ["is for one group", { conditions: { people: { groups: { include: ["00gA"] } } } }, "policy"],
])("to deny in the catch-all is enough if the other rule %s", (_, changes, type) => {
  const rule = anAccessRule();
  const conditions = { ...(rule["conditions"] as JsonObject), ...(changes["conditions"] as JsonObject | undefined) };
  const [finding] = judge([anApp()], { rst1: obtained([{ ...rule, ...changes, conditions }, lastRule()]) }).findings;
  const id = type === "policy" ? "rst1" : String(lastRule()["id"]);
  expect(finding?.cause).toBe(causeId({ type, id }, sha256));
});

describe("apps that nobody signs in to", () => {
  const service = { settings: { oauthClient: { application_type: "service" } } };
  const directory = { name: "active_directory", signOnMode: null, features: ["PROFILE_MASTERING"], _links: {} };
  const openLink = { accessPolicy: { href: "/policies/rstOpen" } };

  test.each<[what: string, app: JsonObject, isLeftOut: boolean]>([
    ["a service app without a policy", anApp({ ...service, _links: {} }), true],
    ["Active Directory with an open policy", anApp({ ...directory, _links: openLink }), true],
    ["an app without a sign-on mode", anApp({ signOnMode: null, features: [], _links: openLink }), true],
    ["a directory with a sign-on", anApp({ ...directory, signOnMode: "SAML_2_0", _links: openLink }), false],
    ["a directory without a known sign-on mode", anApp({ name: "active_directory", _links: {} }), false],
  ])("%s is left out: %s", (_, app, isLeftOut) => {
    const { findings } = judge([adminConsoleApp, dashboardApp, { ...app, id: "0oaOne" }], good);
    const finding = findings.find(({ resource }) => resource.id === "0oaOne");
    expect(finding?.status).toBe(isLeftOut ? undefined : "FAIL");
    for (const { detail } of findings)
      expect(detail.includes("left out, because nobody signs in there: 1 ")).toBe(isLeftOut);
  });

  test("apps that nobody signs in to are counted and named by kind; inactive ones are not", () => {
    const sources = ["corp.example", "people.csv"].map((label) => anApp({ ...directory, id: label, label }));
    const services = ["ACTIVE", "INACTIVE"].map((status) => anApp({ ...service, id: status, status }));
    const { detail } = judge([adminConsoleApp, dashboardApp, ...sources, ...services], good);
    expect(detail).toContain('1 service app, "Payroll"; 2 directories, "corp.example", "people.csv"');
  });

  test.each<[what: string, apps: JsonList, reason: string]>([
    ["the service app, as for a Read-Only Administrator", [anApp(service)], "partly_automated"],
    ["inactive ones", [adminConsoleApp, dashboardApp].map((app) => ({ ...app, status: "INACTIVE" })), "needs_review"],
  ])("only %s: %s", (_, apps, reason) => {
    expect(judge(apps, {})).toMatchObject({ status: "MANUAL", reason });
  });
});

describe("a list of apps", () => {
  test("a partial list of apps leaves the unseen apps and DISA's sentence to a person, except with a FAIL", () => {
    const { findings } = judge([adminConsoleApp, anApp()], good);
    expect(findings).toHaveLength(2);
    for (const finding of findings) {
      expect(finding).toMatchObject({ automated: "PASS", reason: "partly_automated" });
      expect(finding.detail).toContain("all necessary allow and block");
      expect(finding.detail).toContain(
        "Apps that the administrator role of this run does not see were not evaluated; it sees 2 apps",
      );
    }
    expect(judge([anApp({ _links: {} })], good).detail).not.toContain("administrator role");
  });

  test("names the policy to change, the zones with their addresses, and Okta's own apps", () => {
    const access_policies = obtained([{ id: "rst1", name: "Any two factors" }]);
    const apps = [adminConsoleApp, dashboardApp, anApp()];
    const workflows = anApp({ id: "0oaFlow", name: "flow", label: "Okta Workflows OAuth" });
    const { findings } = judge([...apps, workflows], { rst1: good.rstOpen }, { access_policies });
    expect(findings).toHaveLength(4);
    for (const { status, detail, resource } of findings) {
      expect(status).toBe("FAIL");
      expect(detail).toContain('in the policy "Any two factors"');
      expect(detail.includes("Okta's own apps")).toBe(resource.name !== "Payroll");
    }
    expect(judge(apps, good).detail).toContain('rule "Known networks" with access from zone "Offices" (192.0.2.0/24)');
  });

  test("a list of apps that broke off proves an open app, and nothing else", () => {
    const apps = missing("provider_error", "page 2 failed", [adminConsoleApp, anApp({ _links: {} })]);
    const app_policy_rules = missing("provider_error", "page 2 failed", good);
    const { findings } = judge(apps, {}, { app_policy_rules });
    expect(findings.map(({ resource, status }) => `${resource.name} ${status}`)).toEqual([
      "Payroll FAIL",
      "acme.okta.com MANUAL",
    ]);
  });

  test("whose rules were not requested is MANUAL", () => {
    expect(outcomeOf(judge([anApp()], {}))).toBe("provider_error");
    const app_policy_rules = missing<never>("missing_scope", "policies.read is not granted");
    expect(outcomeOf(judge([anApp()], {}, { app_policy_rules }))).toBe("missing_scope");
  });
});
