import { describe, expect, test } from "vitest";
import { applyAttestations, applyDecisions, applyWaivers } from "../../../scanner/decisions/apply_decisions.ts";
import { parseDecisions } from "../../../scanner/decisions/decision_sources.ts";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { applyGate } from "../../../scanner/decisions/gates.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

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
    ["{", /the file is cut short/],
    ["{}", /expected a list/],
    ['["x"]', /decisions\[0\]/],
  ])("is refused as %s", (text, message) => {
    expect(() => parseDecisions(text, source)).toThrow(message);
  });

  test.each<[object, RegExp]>([
    [{ reason: undefined }, /decisions\[0\]\.reason: is required: expected why/],
    [{ by: undefined }, /decisions\[0\]\.by: is required: expected who/],
    [{ expires: undefined }, /decisions\[0\]\.expires: is required: expected a day .* or "never"/],
    [{ expires: null }, /decisions\[0\]\.expires: expected a day .* or "never"/],
    [{ reason: " " }, /reason: must not be empty/],
    [{ check: "no_such" }, /unknown rule "no_such"/],
    [{ expire: "2027-01-01" }, /expire/],
    [{ expires: "next year" }, /2027-01-31/],
    [{ expires: "2027-13-01" }, /2027-01-31/],
    [{ expires: "2027-01-01T10:00:00" }, /2027-01-31/],
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

  test("names a rule by another revision, which is said", () => {
    const warnings: string[] = [];
    const text = JSON.stringify([{ ...given, check: "SV-273186r1_rule" }]);
    const { waivers } = parseDecisions(text, { ...source, warn: (message) => void warnings.push(message) });
    expect(waivers).toMatchObject([{ check }]);
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
  ])("that expires %s is in force at noon of the 21st: %s", (expires, isInForce) => {
    const { ids, warnings } = apply({ expires });
    expect([ids.length > 0, warnings.length]).toEqual([isInForce, isInForce ? 0 : 1]);
  });

  test("a waiver that matches no open finding is a warning", () => {
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

  test("is ignored with a warning if a later one is about the same rule", () => {
    const { attestations } = read({ ...given, status: "FAIL" }, { ...given, status: "PASS" });
    const { results, warnings } = applyAttestations([manual], attestations, now);
    expect(results[0]?.attestation?.status).toBe("PASS");
    expect(warnings[0]).toMatch(/ as FAIL is ignored: a later one says PASS$/);
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

test("no decision is about a rule that an interrupted scan did not reach", () => {
  const unreached = aCheckResult({ findings: [aFinding({ status: "MANUAL", reason: "interrupted" })] });
  const decisions = { ...read(given, { ...given, status: "PASS" }), baseline: null };
  expect(applyDecisions([unreached], decisions, now)).toMatchObject({ results: [unreached], warnings: [] });
});

describe("a decision with a remediation date", () => {
  const plan = { check, reason: "Change 7", remediation_date: "2026-11-21" };

  function decide(entries: readonly object[], result: CheckResult = aCheckResult(), nowMs = now) {
    const { waivers } = read(...entries);
    return applyDecisions([result], { waivers, attestations: [] }, nowMs);
  }

  function firstFinding(entries: readonly object[], result?: CheckResult, nowMs?: number) {
    return decide(entries, result, nowMs).results[0]?.findings[0];
  }

  test("is a plan, and no waiver: the finding still fails", () => {
    const { results, warnings } = decide([plan]);
    expect(results[0]?.findings[0]).toMatchObject({ waived: false, plan: { reason: "Change 7" } });
    const gate = { failOn: parseFailOn("fail"), onlyNew: false, allowUnread: false };
    expect(applyGate(aReport(results), gate).isFailed).toBe(true);
    expect(warnings).toEqual([]);
  });

  test("a remediation date with an end is a waiver until then, and a plan all the time", () => {
    const both = { ...plan, remediation_date: "2026-11-01", expires: "2026-11-21", by: "A. Person" };
    expect(firstFinding([both])).toMatchObject({ waived: true, plan: { overdue: false } });
    const later = Date.parse("2026-11-22T00:00:00Z");
    expect(firstFinding([both], aCheckResult(), later)).toMatchObject({ waived: false, plan: { overdue: true } });
  });

  test("is no plan for what is for a person to judge, unless the person found a failure", () => {
    const manual = aCheckResult({ findings: [aFinding({ status: "MANUAL" })] });
    expect(firstFinding([plan], manual)?.plan).toBeUndefined();
    const { waivers } = read(plan);
    const attestations = [{ check, status: "FAIL", reason: "seen", by: "A. Person", expires: null }] as const;
    const { results } = applyDecisions([manual], { waivers, attestations }, now);
    expect(results[0]?.findings[0]?.plan).toMatchObject({ remediation_date: "2026-11-21" });
  });

  test.each([
    [{ remediation_date: "soon" }, /decisions\[0\]\.remediation_date: expected a day/],
    [{ remediation_date: "2026-02-30" }, /remediation_date: expected a day/],
    [{ remediation_date: null }, /remediation_date/],
    [{ milestones: "Draft" }, /milestones: expected a list/],
    [{ milestones: [" "] }, /milestones\[0\]/],
    [{ milestones: [{ description: "x", done: true }] }, /milestones\[0\]/],
    [{ milestones: [{ description: "x", date: "x" }] }, /milestones\[0\]/],
    [
      { milestones: [{ description: "x", date: "2026-11-22" }] },
      /milestones\[0\]\.date: expected no day after remediation_date, 2026-11-21/,
    ],
    [{ milestones: Array.from({ length: 101 }, () => "x") }, /expected 100 at most/],
    [
      { remediation_date: undefined, by: "A. Person", expires: "never", milestones: ["x"] },
      /milestones: expected a remediation_date/,
    ],
  ])("refuses %j: %s", (changes, message) => {
    expect(() => read({ ...plan, ...changes })).toThrow(message);
  });
});

/** Files that come with a pull request: a bound, and an error that says what and where. */
test.each<[string, string, RegExp]>([
  [
    "10,001 entries",
    JSON.stringify(Array.from({ length: 10_001 }, () => given)),
    /decisions has 10001 entries: expected 10000/,
  ],
  [
    "a pattern of 1,001 characters",
    JSON.stringify([{ ...given, resource: "a".repeat(1001) }]),
    /decisions\[0\]\.resource: is too long: expected 1000/,
  ],
  [
    "a key that is given twice",
    `[{"check":"${check}","reason":"x","expires":"2026-01-01","\\u0065xpires":"never"}]`,
    /the key "expires" is given twice/,
  ],
  ["a prototype", `[{"check":"${check}","reason":"x","__proto__":{"resource":"no"}}]`, /decisions\[0\]\.__proto__/],
])("decisions with %s are refused, saying what and where", (_, text, message) => {
  expect(() => parseDecisions(text, source)).toThrow(message);
});

test("thousands of hostile patterns and names: a bound, a warning, and what is written out still counts", () => {
  // Most of them are refused by their first letter: the bound goes by lengths.
  const patterns = Array.from({ length: 1000 }, (_, index) => `${index < 50 ? "" : "x"}*${"a?".repeat(400)}${index}`);
  const resources = [...patterns.slice(0, -2), "id7", "My app"];
  const { waivers } = parseDecisions(JSON.stringify(resources.map((resource) => ({ ...given, resource }))), source);
  const names = [...Array.from({ length: 2000 }, (_, index) => `${"a".repeat(2000)}${index}z`), "My app"];
  const findings = names.map((name, index) => aFinding({ resource: { type: "policy", id: `id${index}`, name } }));
  const { results, warnings } = applyWaivers([aCheckResult({ findings })], waivers, 0);
  const waived = results.flatMap((result) => result.findings.filter((finding) => finding.waived));
  expect(waived.map(({ resource }) => resource.name)).toEqual([names[7], "My app"]);
  expect(warnings.at(-1)).toMatch(/take too long.*not waived/);
});

test("a thousand wrong entries below a million empty lines are refused at once, with their line", () => {
  const text = "\n".repeat(1_000_000) + JSON.stringify(Array.from({ length: 1000 }, () => ({ check: 1 })));
  expect(() => parseDecisions(text, source)).toThrow("line 1000001: decisions[0].check: expected a text");
});
