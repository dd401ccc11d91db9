import { expect, test } from "vitest";
import { aCheckResult, aFinding, aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";
import type { Report } from "../../../shared/report.ts";

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly kind: string;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly { readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } } }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly suppressions?: readonly { readonly justification: string }[];
}

function runOf(report: Report) {
  const log = JSON.parse(renderAs("sarif", report)) as {
    readonly runs: readonly [
      { readonly results: readonly Result[]; readonly tool: { readonly driver: { readonly rules: { id: string }[] } } },
    ];
  };
  return log.runs[0];
}

const attestation = { reason: "Seen by hand", by: "A. Person", expires: null } as const;

test("a result is a failing finding, and every failing finding is a result", () => {
  const report = aReport(everyVerdict());
  const { results, tool } = runOf(report);
  const failing = report.checks.flatMap(({ findings }) => findings.filter(({ status }) => status === "FAIL"));
  expect(results.map((result) => result.partialFingerprints["scanstream/v1"])).toEqual(
    failing.map((finding) => finding.fingerprint),
  );
  for (const result of results) {
    expect(result).toMatchObject({ kind: "fail", level: expect.stringMatching(/^(error|warning)$/) });
    expect(tool.driver.rules[result.ruleIndex]?.id).toBe(result.ruleId);
  }
});

test.each(["PASS", "MANUAL"] as const)("an org whose findings are all %s has an empty list of results", (status) => {
  const { results, tool } = runOf(aReport([aCheckResult({ findings: [aFinding({ status })] })]));
  expect(results).toEqual([]);
  expect(tool.driver.rules).toHaveLength(1);
});

test.each([
  ["..", "acme.okta.com/policy/_.."],
  [".", "acme.okta.com/policy/_."],
  ["", "acme.okta.com/policy/_"],
  ["a/../../b", "acme.okta.com/policy/a%2F..%2F..%2Fb"],
  ["\ud800", "acme.okta.com/policy/%EF%BF%BD"],
])("a resource called %j stands at %s", (id, uri) => {
  const finding = aFinding({ resource: { type: "policy", id, name: id } });
  const { results } = runOf(aReport([aCheckResult({ findings: [finding] })]));
  expect(results[0]?.locations[0]?.physicalLocation.artifactLocation.uri).toBe(uri);
});

test("a waived failure is a suppressed result with its reason", () => {
  const waiver = { reason: "CHG-7", expires: "2027-01-31" };
  const { results } = runOf(aReport([aCheckResult({ findings: [aFinding({ waived: true, waiver })] })]));
  expect(results.map(({ suppressions }) => suppressions?.[0]?.justification)).toEqual([
    "waived until 2027-01-31: CHG-7",
  ]);
});

test("a check that a person attests as failing is one result, which the API alone would not give", () => {
  const findings = [aFinding({ status: "MANUAL" }), aFinding({ status: "PASS" })];
  const check = aCheckResult({ findings, attestation: { status: "FAIL", ...attestation } });
  const { results } = runOf(aReport([check]));
  expect(results.map(({ message }) => message.text)).toEqual([expect.stringContaining("Attested FAIL by A. Person")]);
});

test.each(["PASS", "NOT_APPLICABLE"] as const)("a check attested as %s has no result", (status) => {
  const check = aCheckResult({ findings: [aFinding({ status: "MANUAL" })], attestation: { status, ...attestation } });
  expect(runOf(aReport([check])).results).toEqual([]);
});

test("a name that is written as a link is no link in a message", () => {
  const finding = aFinding({ detail: "Application [sign in](https://evil.example) \\[x](y)" });
  const { results } = runOf(aReport([aCheckResult({ findings: [finding] })]));
  expect(results[0]?.message.text).toBe("Application \\[sign in\\](https://evil.example) \\\\\\[x\\](y)");
});
