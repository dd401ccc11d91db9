import { array, assert, boolean, constantFrom, object, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCompanyRules } from "../../../scanner/decisions/company_rules/company_rules.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import { missing, obtained, type CollectedArtifacts } from "../../../scanner/evidence/artifacts.ts";
import { reportFormats } from "../../../scanner/reports/formats.ts";
import {
  aPasswordPolicy,
  aSessionPolicy,
  aSessionRule,
  aZone,
  anApp,
  context,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";
import { aCheckResult, aReport, renderAs } from "../../support/report_builders.ts";

const rule = {
  id: "ACME-7",
  title: "Passwords have 20 characters",
  severity: "high",
  artifact: "password_policies",
  each: "[?status == 'ACTIVE']",
  condition: "settings.password.complexity.minLength >= 20",
  expected: "a minimum length of at least 20 characters",
  remediation: "Set the minimum length to 20",
};

function parse(changes: object = {}) {
  return parseCompanyRules(JSON.stringify({ checks: [{ ...rule, ...changes }] }), "rules.json");
}

function judge(changes: object, artifacts: CollectedArtifacts) {
  const [check] = parse(changes);
  if (check === undefined) throw new Error("There is no rule");
  return evaluateCheck(check, artifacts, context);
}

const policies = (...found: ReturnType<typeof aPasswordPolicy>[]) => ({ password_policies: obtained(found) });
const withLength = (length: unknown) => set(aPasswordPolicy(), "settings.password.complexity.minLength", length);

describe("a company's rule is judged as those of the STIG are", () => {
  test.each([
    ["on the limit", 20, "PASS"],
    ["below the limit", 19, "FAIL"],
    ["not set", undefined, "FAIL"],
    ["null", null, "FAIL"],
    ["of another type", "20", "unreadable"],
  ])("a value %s", (_, length, outcome) => {
    expect(outcomeOf(judge({}, policies(withLength(length))))).toBe(outcome);
  });

  test("one finding for each, with the values that were compared", () => {
    const second = { ...withLength(20), id: "00p2", name: "Second" };
    const { findings, check, vuln_id: id, origin, remediation } = judge({}, policies(withLength(8), second));
    expect([check, id, origin, remediation]).toEqual(["company_acme_7", "ACME-7", "company", rule.remediation]);
    expect(findings.map(({ status, resource, actual }) => [status, resource.name, actual])).toEqual([
      ["FAIL", "Default Policy", "settings.password.complexity.minLength 8"],
      ["PASS", "Second", "settings.password.complexity.minLength 20"],
    ]);
  });

  test.each([
    ["PASS", "PASS"],
    ["FAIL", "FAIL"],
    [undefined, "not_applicable"],
  ])("with nothing to judge and if_none %s it is %s", (if_none, outcome) => {
    expect(outcomeOf(judge({ if_none }, policies(aPasswordPolicy({ status: "INACTIVE" }))))).toBe(outcome);
  });

  test("missing evidence is MANUAL with its reason, and a list that broke off proves what fails in it", () => {
    expect(outcomeOf(judge({}, { password_policies: missing("missing_scope", "403") }))).toBe("missing_scope");
    const partial = missing("provider_error", "page 2", [withLength(8), { ...withLength(20), id: "2" }]);
    expect(judge({}, { password_policies: partial }).findings.map(({ status }) => status)).toEqual(["MANUAL", "FAIL"]);
    expect(outcomeOf(judge({}, {}))).toBe("provider_error");
  });

  test("a rule about the whole list has no verdict on a part of it", () => {
    const whole = { artifact: "log_streams", each: "@", condition: "length([?status == 'ACTIVE']) >= 1" };
    const stream = { id: "1", name: "S", status: "ACTIVE" };
    expect(judge(whole, { log_streams: obtained([stream]) })).toMatchObject({
      status: "PASS",
      findings: [{ resource: { type: "org" } }],
    });
    expect(judge(whole, { log_streams: obtained([]) })).toMatchObject({ status: "FAIL" });
    expect(judge(whole, { log_streams: missing("provider_error", "page 2", [stream]) })).toMatchObject({
      status: "MANUAL",
    });
  });

  test("evidence that is missing within an artifact is MANUAL with its reason", () => {
    const rules = { artifact: "global_session_policies", each: "[*]", condition: "length(rules[*]) < 5" };
    const org = (each: object) => ({ global_session_policies: obtained([{ policy: aSessionPolicy(), ...each }]) });
    const judged = (each: object) => judge(rules, org(each) as CollectedArtifacts);
    expect(judged({ rules: obtained([aSessionRule()]) })).toMatchObject({ status: "PASS" });
    expect(outcomeOf(judged({ rules: missing("missing_role", "403") }))).toBe("missing_role");
    expect(outcomeOf(judged({ rules: null }))).toBe("needs_review");
  });

  test("entries without a name are named by their place, and each is a finding", () => {
    const gateways = () => ["192.0.2.0/24", "10.0.0.0/8", "192.0.2.0/24"].map((value) => ({ type: "CIDR", value }));
    const lab = aZone({ id: "nzo2", name: "Lab", gateways: gateways() });
    const zones = { network_zones: obtained([aZone({ gateways: gateways() }), lab]) };
    const each = "[*].gateways[?type == 'CIDR']";
    const { findings } = judge({ artifact: "network_zones", each, condition: "value != '10.0.0.0/8'" }, zones);
    expect(findings.map(({ status, resource }) => `${status} ${resource.id} ${resource.name}`)).toEqual([
      "PASS nzo2/gateways/0 Lab/gateways/0",
      "FAIL nzo2/gateways/1 Lab/gateways/1",
      "PASS nzo2/gateways/2 Lab/gateways/2",
      "PASS nzo1/gateways/0 Offices/gateways/0",
      "FAIL nzo1/gateways/1 Offices/gateways/1",
      "PASS nzo1/gateways/2 Offices/gateways/2",
    ]);
  });

  test("what has no name at all is named by its place in the list", () => {
    const zones = { network_zones: obtained([{ status: "ACTIVE" }, { status: "INACTIVE" }]) };
    const { findings } = judge({ artifact: "network_zones", each: "[*]", condition: "status == 'ACTIVE'" }, zones);
    expect(findings.map(({ status, resource }) => `${status} ${resource.name}`)).toEqual([
      "PASS zone/0",
      "FAIL zone/1",
    ]);
  });

  test("rules within policies are resources of their own", () => {
    const { findings } = judge(
      { artifact: "global_session_policies", each: "[*].rules[*]", condition: "name != 'Default Rule'" },
      { global_session_policies: obtained([{ policy: aSessionPolicy(), rules: obtained([aSessionRule()]) }]) },
    );
    expect(findings).toMatchObject([{ status: "PASS", resource: { type: "rule", name: "STIG rule" } }]);
  });
});

describe("the language", () => {
  const app = anApp({ label: "Payroll", status: "ACTIVE", name: "payroll" });
  const zone = aZone({ gateways: [{ type: "CIDR", value: "10.0.0.0/8" }], usage: "POLICY" });
  const holds = (condition: string, changes: object = { artifact: "apps" }) =>
    judge({ each: "[*]", ...changes, condition }, { apps: obtained([app]), network_zones: obtained([zone]) }).status;

  test.each([
    ["label == 'Payroll'", "PASS"],
    ['"label" == "Payroll"', null],
    ["label != 'Payroll'", "FAIL"],
    ["starts_with(label, 'Pay') && ends_with(label, 'roll')", "PASS"],
    ["contains(label, 'ayr')", "PASS"],
    ["contains(label, 'x') || status == 'ACTIVE'", "PASS"],
    ["!(label == 'x') && !contains(label, 'x')", "PASS"],
    ["label == 'x' || label == 'y' && status == 'ACTIVE'", "FAIL"],
    ["(label == 'x' || label == 'Payroll') && status == `\"ACTIVE\"`", "PASS"],
    ["length(label) == 7", "PASS"],
    ["label == null", "FAIL"],
    ["null != label", "PASS"],
    ["_links.accessPolicy.href != null", "PASS"],
    ["label < 5", "MANUAL"],
    ["label == 5", "MANUAL"],
    ["label", "MANUAL"],
    ["!label", "MANUAL"],
    ["label == 'x' && name < 5", "FAIL"],
    ["label == 'Payroll' || name < 5", "PASS"],
    ["label == 'Payroll' && name < 5", "MANUAL"],
  ])("%s: %s", (condition, status) => {
    if (status === null) expect(() => holds(condition)).toThrow(/condition/);
    else expect(holds(condition)).toBe(status);
  });

  test.each([
    ["length(gateways) == 1", "PASS"],
    ["length(gateways[?type == 'CIDR' && starts_with(value, '10.')]) == length(gateways)", "PASS"],
    ["contains(gateways[*].value, '10.0.0.0/8')", "PASS"],
    ["length(proxies) == 0", "FAIL"],
    ["proxies == null || length(proxies) == 0", "PASS"],
    ["length(gateways[?value < 3]) == 0", "MANUAL"],
    ["!(asns == 'x')", "FAIL"],
  ])("of lists: %s: %s", (condition, status) => {
    expect(holds(condition, { artifact: "network_zones" })).toBe(status);
  });

  test("takes time in proportion to the evidence", () => {
    const condition =
      "length(gateways[?starts_with(value, '10.') || contains(value, '/8')]) >= 1 && status == 'ACTIVE'";
    const org = (count: number) => ({
      network_zones: obtained(Array.from({ length: count }, (_, index) => ({ ...zone, id: `${index}` }))),
    });
    const time = (count: number) => {
      const startedMs = performance.now();
      judge({ artifact: "network_zones", each: "[*]", condition }, org(count));
      return performance.now() - startedMs;
    };
    time(2000);
    expect(time(20_000) / Math.max(time(2000), 1)).toBeLessThan(60);
  });

  test("a list that would take too long gives no verdict, and ends", () => {
    const value = Array.from({ length: 3000 }, (_, index) => index);
    const gateways = Array.from({ length: 3000 }, () => ({ value }));
    const condition = `${"length(gateways[*].value[?@ == 1]) >= 0 && ".repeat(8)}status == 'ACTIVE'`;
    const { status, reason } = judge(
      { artifact: "network_zones", each: "[*]", condition },
      { network_zones: obtained([{ ...zone, gateways }]) },
    );
    expect([status, reason]).toEqual(["MANUAL", "unreadable"]);
  });

  test("any text is a rule, or is refused with a usage error", () => {
    const words = constantFrom(
      ..."label status [*] [? ] . == != < >= && || ! ( ) , @ length( contains( starts_with( 'a' `1` `{` 5 null true \" ' ` a-b".split(
        " ",
      ),
    );
    assert(
      property(array(words, { maxLength: 14 }), boolean(), (parts, isPath) => {
        const text = parts.join(" ").trim() || "x";
        const changes = { artifact: "apps", ...(isPath ? { each: text } : { each: "[*]", condition: text }) };
        let result;
        try {
          result = judge({ condition: "label == 'a'", ...changes }, { apps: obtained([app]) });
        } catch (error) {
          expect(error).toMatchObject({ name: "UsageError" });
          return;
        }
        expect(["PASS", "FAIL", "MANUAL"]).toContain(result.status);
        expect(result.detail).not.toMatch(/failed on an answer/);
      }),
      { numRuns: 3000 },
    );
  });

  test("any evidence gives a verdict", () => {
    assert(
      property(array(object({ key: constantFrom("status", "gateways", "value", "__proto__") })), (zones) => {
        const condition = "length(gateways[?value == 'x']) > 0 && (status == 'ACTIVE' || contains(gateways, 'y'))";
        const { findings } = judge(
          { artifact: "network_zones", each: "[*]", condition },
          { network_zones: obtained(zones as never) },
        );
        for (const { detail } of findings) expect(detail).not.toMatch(/failed on an answer/);
      }),
      { numRuns: 500 },
    );
  });
});

describe("parseCompanyRules", () => {
  test.each([
    [
      { artifact: "zones" },
      /ACME-7\.artifact: there is no artifact "zones": did you mean network_zones\? expected one of global_session_policies, /,
    ],
    [{ artifact: "constructor" }, /there is no artifact "constructor"/],
    [
      { artifact: "apps", each: "[*]", condition: "settings.signOn == 1" },
      /a scan keeps no field "settings.signOn" of apps: expected one of id, name/,
    ],
    [
      { artifact: "apps", each: "[?visibility == 'x']", condition: "name == 'x'" },
      /ACME-7\.each: a scan keeps no field "visibility"/,
    ],
    [{ id: "V-273186" }, /checks\.0\.id: expected an id of your own/],
    [{ id: "SV-1r1_rule" }, /checks\.0\.id/],
    [{ id: "OKTA-APP-1" }, /checks\.0\.id/],
    [{ id: "acme" }, /checks\.0\.id/],
    [{ severity: "critical" }, /checks\.0\.severity: expected high, medium or low/],
    [{ title: " " }, /checks\.0\.title: must not be empty/],
    [{ fix: "x" }, /line 1: checks\.0\.fix: is not a known field/],
    [{ expected: undefined }, /checks\.0\.expected: is required/],
    [{ condition: "" }, /checks\.0\.condition: must not be empty/],
    [{ condition: "a ==" }, /ACME-7\.condition: it ends too early/],
    [{ condition: "a = 1" }, /ACME-7\.condition: it cannot be read at "= 1"/],
    [{ condition: "a[*] == 1" }, /"a\[\*\]" cannot be compared: expected length\(…\) or contains\(…\) of it/],
    [{ condition: "length(a)" }, /"length\(a\)" is neither true nor false: expected a comparison/],
    [
      { condition: "matches(a, 'b')" },
      /there is no function "matches": expected length, contains, starts_with, ends_with/,
    ],
    [{ condition: "length(a, b) == 1" }, /length has 2 arguments: expected 1/],
    [{ condition: "a == `[1]`" }, /"\[1\]" is no value/],
    [{ condition: "(".repeat(50) }, /nested too deep/],
    [{ condition: `a == '${"x".repeat(1900)}'` }, /too long: expected 1900/],
    [{ each: "a == 1" }, /ACME-7\.each: "a == 1" is no path/],
  ])("refuses %j", (changes, message) => {
    expect(() => parse(changes)).toThrow(message);
  });

  test.each([
    ["", /it is not JSON/],
    ["[]", /checks: is required/],
    ['{"checks": []}', /at least one rule/],
    ['{"checks": [], "checks": []}', /given twice/],
    [JSON.stringify({ checks: [rule, rule] }), /ACME-7: this id/],
    [JSON.stringify({ checks: [rule, { ...rule, id: "ACME.7" }] }), /given twice/],
  ])("refuses %s", (text, message) => {
    expect(() => parseCompanyRules(text, "rules.json")).toThrow(message);
    expect(() => parseCompanyRules(text, "rules.json")).toThrow(/^Cannot use --checks "rules\.json": /);
  });
});

describe("the reports", () => {
  const result = judge({}, policies(withLength(8)));
  const report = aReport([aCheckResult(), result]);

  test.each(reportFormats.map(({ name }) => name))("%s holds the rule, unless it is a checklist", (name) => {
    const isChecklist = ["cklb", "ckl", "xccdf"].includes(name);
    expect(renderAs(name, report).includes("ACME-7")).toBe(!isChecklist);
  });

  test.each(["table", "html", "markdown", "sarif", "junit"])("%s does not call it one of DISA's categories", (name) => {
    const alone = renderAs(name, aReport([result]));
    expect(alone).toContain("ACME-7");
    expect(alone).not.toMatch(/CAT I|V-\d{6}/);
  });
});
