import { describe, expect, test } from "vitest";
import { applyAttestations } from "../../../scanner/decisions/apply_decisions.ts";
import { parseDecisions } from "../../../scanner/decisions/decision_file.ts";
import { applyWaivers } from "../../../scanner/decisions/apply_decisions.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { aCheckResult, aFinding } from "../../support/report_builders.ts";

const check = "signon_global_session_idle_timeout_15min";
const source = { option: "--decisions", file: "decisions.json", rules: stigRuleNames };
const now = Date.parse("2026-11-21T12:00:00Z");
const given = { check, reason: "accepted", by: "A. Person", expires: "never" };
const read = (...entries: readonly unknown[]) => parseDecisions(JSON.stringify(entries), source);

describe("a file of decisions", () => {
  test("is a list, or an object with the list", () => {
    const waivers = [{ ...given, resource: null, expires: null }];
    expect(read(given).waivers).toEqual(waivers);
    expect(parseDecisions(JSON.stringify({ decisions: [given] }), source).waivers).toEqual(waivers);
  });

  test.each<[string, RegExp]>([
    ["{", /decisions\.json.*the file is cut short/],
    ["{}", /expected a list/],
    ['["x"]', /decisions\[0\]/],
  ])("is refused as %s", (text, message) => {
    expect(() => parseDecisions(text, source)).toThrow(message);
  });

  test.each<[object, RegExp]>([
    [{ reason: undefined }, /decisions\[0\]\.reason: is required: expected why/],
    [{ by: undefined }, /decisions\[0\]\.by: is required: expected who/],
    [{ by: "" }, /by: must not be empty/],
    [{ expires: undefined }, /decisions\[0\]\.expires: is required: expected a day .* or "never"/],
    [{ expires: null }, /decisions\[0\]\.expires: expected a day .* or "never"/],
    [{ reason: " " }, /reason: must not be empty/],
    [{ check: "no_such" }, /unknown rule "no_such"/],
    [{ expire: "2027-01-01" }, /expire/],
    [{ expires: "next year" }, /2027-01-31/],
    [{ expires: "2027-13-01" }, /2027-01-31/],
    [{ expires: "2027-01-01T10:00:00" }, /2027-01-31/],
    [{ resource: "" }, /resource: must not be empty/],
    [{ status: "MAYBE" }, /expected PASS, FAIL or NOT_APPLICABLE/],
    [{ status: "PASS", by: undefined }, /by/],
  ])("is refused with %j", (changes, message) => {
    expect(() => read({ ...given, ...changes })).toThrow(message);
  });

  test("is refused with every problem at once, each with its line", () => {
    const text = `{ "decisions": [
      { "check": "${check}", "reason": "x", "by": "me",
        "expires": "soon" },
      { "check": "${check}", "by": "me", "expires": "never" }
    ] }`;
    expect(() => parseDecisions(text, source)).toThrow("line 3: decisions[0].expires: expected a day");
    expect(() => parseDecisions(text, source)).toThrow("line 4: decisions[1].reason: is required");
    const unknown = `[\n${JSON.stringify({ ...given, check: "no_such" })}]`;
    expect(() => parseDecisions(unknown, source)).toThrow("line 2: decisions[0].check: ");
  });

  test("names its rules by any of their names, and another revision is said", () => {
    const warnings: string[] = [];
    const names = ["V-273186", "sv-273186", "SV-273186r1_rule", "SIGNON_global_session_idle_timeout_15min"];
    const text = JSON.stringify(names.map((name) => ({ ...given, check: name })));
    const { waivers } = parseDecisions(text, { ...source, warn: (message) => void warnings.push(message) });
    expect(new Set(waivers.map((waiver) => waiver.check))).toEqual(new Set([check]));
    expect(warnings).toEqual([expect.stringContaining("SV-273186r1_rule is another revision of V-273186")]);
  });
});

describe("a waiver", () => {
  const findings = [
    aFinding({ resource: { type: "policy", id: "00p1", name: "Sales/EMEA policy" } }),
    aFinding({ resource: { type: "policy", id: "00p2", name: ".hidden" } }),
    aFinding({ status: "PASS", resource: { type: "policy", id: "00p3", name: "Fine" } }),
    aFinding({ status: "MANUAL", reason: "not_applicable", resource: { type: "policy", id: "00p4", name: "N/A" } }),
  ];
  const apply = (changes: object) => {
    const { results, warnings } = applyWaivers(
      [aCheckResult({ findings })],
      read({ ...given, ...changes }).waivers,
      now,
    );
    const waived = results.flatMap((result) => result.findings).filter((finding) => finding.waived);
    return { ids: waived.map((finding) => finding.resource.id), warnings, results };
  };

  test.each([
    ["no resource", {}, ["00p1", "00p2"]],
    ["an exact id", { resource: "00p1" }, ["00p1"]],
    ["a glob over a name with a slash", { resource: "Sales*policy" }, ["00p1"]],
    ["a glob over a name with a leading dot", { resource: "*hidden" }, ["00p2"]],
    ["everything", { resource: "*" }, ["00p1", "00p2"]],
    ["an exclamation mark that is no negation", { resource: "!Fine" }, []],
  ])("with %s", (_, changes, expected) => {
    expect(apply(changes).ids).toEqual(expected);
  });

  test("keeps the status and carries the reason", () => {
    const [result] = apply({ expires: "2027-01-01" }).results;
    const waiver = { reason: "accepted", expires: "2027-01-01" };
    expect(result).toMatchObject({ status: "FAIL", findings: [{ status: "FAIL", waiver }, {}, {}, {}] });
  });

  test.each([
    ["2026-11-20", false],
    ["2026-11-21", true],
    ["2026-11-21T11:59:59Z", false],
    ["2026-11-21T12:00:00Z", true],
    ["2026-11-21T14:00:00+02:00", true],
    ["2026-11-21T13:59:59+02:00", false],
  ])("that expires %s is in force at noon of the 21st: %s", (expires, isInForce) => {
    const { ids, warnings } = apply({ expires });
    expect([ids.length > 0, warnings.length]).toEqual([isInForce, isInForce ? 0 : 1]);
  });

  test("that matches nothing is said", () => {
    expect(apply({ resource: "Other" }).warnings).toEqual([expect.stringContaining("matches no open finding")]);
  });
});

describe("an attestation", () => {
  const manual = aCheckResult({ findings: [aFinding({ status: "MANUAL" })] });
  const attest = (result: typeof manual, changes: object = {}) =>
    applyAttestations([result], read({ ...given, status: "PASS", ...changes }).attestations, now);

  test("stands beside a MANUAL without changing it", () => {
    expect(attest(manual).results).toMatchObject([
      { status: "MANUAL", attestation: { status: "PASS", by: "A. Person" } },
    ]);
  });

  test.each([
    ["that expired", manual, { expires: "2026-11-20" }, /expired/],
    ["of PASS on a proven FAIL", aCheckResult(), {}, /only a waiver/],
  ])("%s is ignored with a warning", (_, result, changes, warning) => {
    const { results, warnings } = attest(result, changes);
    expect(results[0]?.attestation).toBeNull();
    expect(warnings[0]).toMatch(warning);
  });
});
