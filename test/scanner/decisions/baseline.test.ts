import { expect, test } from "vitest";
import { applyDecisions } from "../../../scanner/decisions/apply_decisions.ts";
import { compareWithBaseline, parseBaseline } from "../../../scanner/decisions/baseline.ts";
import type { Role } from "../../../shared/history/observation.ts";
import { ContentError } from "../../../shared/usage_error.ts";
import type { Finding } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

/** The findings of a rule before and now; null: none. */
function compare(before: Partial<Finding> | null, after: Partial<Finding> | null, role: Role = "super_admin") {
  const ruleOf = (changes: Partial<Finding> | null, status?: "PASS") =>
    aCheckResult(changes === null ? { findings: [], status: status ?? "PASS" } : { findings: [aFinding(changes)] });
  const baseline = parseBaseline(JSON.stringify(aReport([ruleOf(before)])));
  const { results, comparison } = compareWithBaseline([ruleOf(after)], { baseline, role });
  return { finding: results[0]?.findings[0], comparison };
}

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
  const { finding, comparison } = compare(before && { status: before }, { status: after });
  expect([finding?.change, comparison[change]]).toEqual([change, 1]);
});

test.each([
  [null, null, "unchanged"],
  [null, "FAIL", "new"],
  ["FAIL", "FAIL", "unchanged"],
  ["FAIL", "PASS", "resolved"],
  ["PASS", "FAIL", "new"],
] as const)("MANUAL that is attested %s before and %s now is %s", (before, after, change) => {
  const attestedAs = (status: "PASS" | "FAIL" | null) =>
    aCheckResult({
      findings: [aFinding({ status: "MANUAL" })],
      attestation: status && { status, reason: "seen", by: "A. Person", expires: null },
    });
  const baseline = parseBaseline(JSON.stringify(aReport([attestedAs(before)])));
  // A checklist's answer is an attestation, too.
  const answers = new Map([["V-273186", { status: "open", details: "Seen", comments: "" } as const]]);
  const checklist = after === "FAIL" ? { name: "okta.ckl", answers, carried: null } : null;
  const byFile =
    after === "PASS" ? [{ check: attestedAs(null).check, status: after, reason: "x", by: "y", expires: null }] : [];
  const decided = applyDecisions([attestedAs(null)], { waivers: [], attestations: byFile }, 0, checklist).results;
  expect(compareWithBaseline(decided, { baseline, role: "super_admin" }).comparison[change]).toBe(1);
});

test("an open finding whose resource is gone is resolved, unless the rule or the app could not be read", () => {
  expect(compare({}, null).comparison).toMatchObject({ resolved: 1, gone: [{ resource: { id: "00p1" } }] });
  const outage = { status: "MANUAL", reason: "provider_error", fingerprint: "org" } as const;
  expect(compare({}, outage).comparison.resolved).toBe(0);
  const app = { resource: { type: "app", id: "0oa1", name: "Payroll" } };
  expect(compare(app, null).comparison.resolved).toBe(1);
  expect(compare(app, null, "read_only_admin").comparison).toMatchObject({ resolved: 0, gone: [] });
});

const earlier = { detected_first: "2026-01-01T00:00:00Z" };
test.each<[string, Partial<Finding>, Partial<Finding>, string | undefined]>([
  ["with the baseline, where that had it", {}, {}, "2026-11-01T10:00:42.000Z"],
  ["with the first of all baselines", earlier, {}, "2026-01-01T00:00:00Z"],
  ["also when nobody could tell in between", { ...earlier, status: "MANUAL" }, {}, "2026-01-01T00:00:00Z"],
  ["now, where the baseline had it fine", { status: "PASS" }, {}, undefined],
  ["now, where the baseline had another", { fingerprint: "other" }, {}, undefined],
  ["never, when it is fine", earlier, { status: "PASS" }, undefined],
])("an open finding was detected first %s", (_, before, after, expected) => {
  expect(compare(before, after).finding?.detected_first).toBe(expected);
});

test.each([
  "",
  "{}",
  '{"schema":"scanstream.report/2"}',
  '{"schema":"scanstream.report/1","scan":{"id":"1"}}',
  JSON.stringify(aReport()).replace("2026-11-01T10:00:42.000Z", "yesterday"),
])("a file %# that is no report is refused", (content) => {
  expect(() => parseBaseline(content)).toThrow(ContentError);
});
