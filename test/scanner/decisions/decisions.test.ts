import { describe, expect, test } from "vitest";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { applyAttestations } from "../../../scanner/decisions/attestations.ts";
import { parseDecisions } from "../../../scanner/decisions/decision_file.ts";
import { compareWithBaseline, parseBaseline } from "../../../scanner/decisions/baseline.ts";
import { applyWaivers } from "../../../scanner/decisions/waivers.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

const check = "signon_global_session_idle_timeout_15min";
const source = { option: "--decisions", file: "decisions.json", rules: stigRuleNames };
const now = Date.parse("2026-11-21T12:00:00Z");
const given = { check, reason: "accepted", by: "A. Person", expires: "never" };

describe("parseDecisions", () => {
  test.each([
    ["a list", [given]],
    ["an object with the list", { decisions: [given] }],
  ])("reads %s", (_, content) => {
    expect(parseDecisions(JSON.stringify(content), source).waivers).toEqual([
      { ...given, resource: null, expires: null },
    ]);
  });

  test.each([
    ["{", /decisions\.json.*the file is cut short/],
    ["{}", /expected a list/],
    ['["x"]', /decisions\[0\]/],
    [JSON.stringify([{ ...given, reason: undefined }]), /decisions\[0\]\.reason: is required: expected why/],
    [JSON.stringify([{ ...given, by: undefined }]), /decisions\[0\]\.by: is required: expected who/],
    [
      JSON.stringify([{ ...given, expires: undefined }]),
      /decisions\[0\]\.expires: is required: expected a day .* or "never"/,
    ],
    [JSON.stringify([{ ...given, expires: null }]), /decisions\[0\]\.expires: expected a day .* or "never"/],
    [JSON.stringify([{ ...given, reason: " " }]), /reason: must not be empty/],
    [JSON.stringify([{ ...given, check: "no_such" }]), /unknown rule "no_such"/],
    [JSON.stringify([{ ...given, expire: "2027-01-01" }]), /expire/],
    [JSON.stringify([{ ...given, expires: "next year" }]), /2027-01-31/],
    [JSON.stringify([{ ...given, expires: "2027-13-01" }]), /2027-01-31/],
    [JSON.stringify([{ ...given, expires: "2027-01-01T10:00:00" }]), /2027-01-31/],
    [JSON.stringify([{ ...given, resource: "" }]), /resource: must not be empty/],
  ])("refuses %s: %s", (text, message) => {
    expect(() => parseDecisions(text, source)).toThrow(message);
  });

  test("names every problem of a file at once", () => {
    const parse = () => parseDecisions(JSON.stringify([{ check }, { reason: "x" }]), source);
    expect(parse).toThrow(/decisions\[0\]\.reason/);
    expect(parse).toThrow(/decisions\[1\]\.check/);
  });

  test("names the line of what is wrong, of the entry that lacks something, and of an unknown check", () => {
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
});

test("a decision names its rule by any of its names, and another revision is said", () => {
  const warnings: string[] = [];
  const names = ["V-273186", "sv-273186", "SV-273186r1_rule", "SIGNON_global_session_idle_timeout_15min"];
  const text = JSON.stringify(names.map((name) => ({ ...given, check: name })));
  const { waivers } = parseDecisions(text, { ...source, warn: (message) => void warnings.push(message) });
  expect(new Set(waivers.map((waiver) => waiver.check))).toEqual(new Set([check]));
  expect(warnings).toEqual([expect.stringContaining("SV-273186r1_rule is another revision of V-273186")]);
});

describe("applyWaivers", () => {
  const findings = [
    aFinding({ resource: { type: "policy", id: "00p1", name: "Sales/EMEA policy" } }),
    aFinding({ resource: { type: "policy", id: "00p2", name: ".hidden" } }),
    aFinding({ status: "PASS", reason: null, resource: { type: "policy", id: "00p3", name: "Fine" } }),
    aFinding({ status: "MANUAL", reason: "not_applicable", resource: { type: "policy", id: "00p4", name: "N/A" } }),
  ];
  const waivedIds = (waiver: object) => {
    const { waivers } = parseDecisions(JSON.stringify([{ ...given, ...waiver }]), source);
    const { results, warnings } = applyWaivers([aCheckResult({ findings })], waivers, now);
    const ids = results.flatMap((result) => result.findings).filter((f) => f.waived);
    return { ids: ids.map((finding) => finding.resource.id), warnings, results };
  };

  test.each([
    ["no resource", {}, ["00p1", "00p2"]],
    ["an exact id", { resource: "00p1" }, ["00p1"]],
    ["a glob over a name with a slash", { resource: "Sales*policy" }, ["00p1"]],
    ["a glob over a name with a leading dot", { resource: "*hidden" }, ["00p2"]],
    ["everything", { resource: "*" }, ["00p1", "00p2"]],
    ["a name that is not there", { resource: "Other" }, []],
    ["an exclamation mark that is no negation", { resource: "!Fine" }, []],
  ])("with %s", (_, waiver, expected) => {
    expect(waivedIds(waiver).ids).toEqual(expected);
  });

  test("keeps the status and carries the reason", () => {
    const { results } = waivedIds({ expires: "2027-01-01" });
    expect(results[0]?.status).toBe("FAIL");
    expect(results[0]?.findings[0]).toMatchObject({
      status: "FAIL",
      waiver: { reason: "accepted", expires: "2027-01-01" },
    });
  });

  test.each([
    ["2026-11-20", false],
    ["2026-11-21", true],
    ["2026-11-21T11:59:59Z", false],
    ["2026-11-21T12:00:00Z", true],
    ["2026-11-21T14:00:00+02:00", true],
    ["2026-11-21T13:59:59+02:00", false],
  ])("that expires %s is in force at noon of the 21st: %s", (expires, isInForce) => {
    const { ids, warnings } = waivedIds({ expires });
    expect(ids.length > 0).toBe(isInForce);
    expect(warnings).toHaveLength(isInForce ? 0 : 1);
  });

  test("warns of a waiver that matches nothing", () => {
    expect(waivedIds({ resource: "Other" }).warnings).toEqual([expect.stringContaining("matches no open finding")]);
  });
});

describe("applyAttestations", () => {
  const attest = (changes: object) =>
    parseDecisions(JSON.stringify([{ ...given, status: "PASS", ...changes }]), source).attestations;
  const manual = aCheckResult({ findings: [aFinding({ status: "MANUAL" })] });

  test("adds an attestation to a MANUAL without changing it", () => {
    const { results } = applyAttestations([manual], attest({}), now);
    expect(results[0]).toMatchObject({ status: "MANUAL", attestation: { status: "PASS", by: "A. Person" } });
  });

  test.each([
    ["an expired one", manual, { expires: "2026-11-20" }, /expired/],
    ["a PASS on a proven FAIL", aCheckResult(), {}, /only a waiver/],
  ])("ignores %s with a warning", (_, result, changes, warning) => {
    const applied = applyAttestations([result], attest(changes), now);
    expect(applied.results[0]?.attestation).toBeNull();
    expect(applied.warnings[0]).toMatch(warning);
  });

  test.each([
    [{ by: "" }, /by: must not be empty/],
    [{ status: "MAYBE" }, /expected PASS, FAIL or NOT_APPLICABLE/],
    [{ by: undefined }, /by/],
    [{ expires: undefined }, /decisions\[0\]\.expires: is required: expected a day/],
  ])("refuses %j", (changes, message) => {
    expect(() => attest(changes)).toThrow(message);
  });
});

describe("compareWithBaseline", () => {
  const at = (id: string, status: "PASS" | "FAIL" | "MANUAL") =>
    aFinding({
      status,
      reason: status === "MANUAL" ? "provider_error" : null,
      resource: { type: "policy", id, name: id },
    });
  const compare = (before: Parameters<typeof at>[1] | null, after: Parameters<typeof at>[1] | null) => {
    const beforeReport = aReport([
      aCheckResult({ findings: before === null ? [] : [at("p", before)], status: "PASS" }),
    ]);
    const baseline = parseBaseline(JSON.stringify(beforeReport), { option: "--baseline", file: "before.json" });
    return compareWithBaseline([aCheckResult({ findings: after === null ? [] : [at("p", after)] })], baseline);
  };

  test.each([
    [null, "FAIL", "new"],
    ["PASS", "FAIL", "new"],
    ["MANUAL", "FAIL", "new"],
    ["FAIL", "FAIL", "unchanged"],
    ["FAIL", "PASS", "resolved"],
    ["MANUAL", "PASS", "resolved"],
    ["PASS", "PASS", "unchanged"],
    [null, "PASS", "new"],
    ["FAIL", "MANUAL", "unchanged"],
    ["PASS", "MANUAL", "new"],
  ] as const)("%s before and %s now is %s", (before, after, change) => {
    const { results, comparison } = compare(before, after);
    expect(results[0]?.findings[0]?.change).toBe(change);
    expect(comparison[change]).toBe(1);
  });

  test("an open finding whose resource is gone is resolved", () => {
    expect(compare("FAIL", null).comparison).toMatchObject({ resolved: 1, gone: [{ resource: { id: "p" } }] });
  });

  test("an outage resolves nothing", () => {
    const baseline = parseBaseline(JSON.stringify(aReport([aCheckResult({ findings: [at("p", "FAIL")] })])), {
      option: "--baseline",
      file: "b.json",
    });
    const outage = aCheckResult({ findings: [at("org", "MANUAL")] });
    expect(compareWithBaseline([outage], baseline).comparison.resolved).toBe(0);
  });

  test.each(["", "{}", "[]", '{"schema":"scanstream.report/2"}', '{"schema":"scanstream.report/1","scan":{"id":"1"}}'])(
    "refuses %j, naming the file",
    (content) => {
      expect(() => parseBaseline(content, { option: "--baseline", file: "old.json" })).toThrow(
        /--baseline "old\.json"/,
      );
    },
  );
});
