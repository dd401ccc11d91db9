import { expect, test } from "vitest";
import type { Report } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly message: { readonly text: string };
  readonly locations: readonly { readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } } }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly suppressions?: readonly object[];
}

function runOf(report: Report): { readonly results: readonly Result[]; readonly rules: readonly { id: string }[] } {
  const [{ results, tool }] = JSON.parse(renderAs("sarif", report)).runs;
  return { results, rules: tool.driver.rules };
}

const resultsOf = (...check: Parameters<typeof aCheckResult>) => runOf(aReport([aCheckResult(...check)])).results;

test("a result is a failing finding, and every failing finding is a result", () => {
  const report = aReport(everyVerdict());
  const { results, rules } = runOf(report);
  const failing = report.checks.flatMap(({ findings }) => findings.filter(({ status }) => status === "FAIL"));
  expect(results.map((result) => result.partialFingerprints["scanstream/v1"])).toEqual(
    failing.map((finding) => finding.fingerprint),
  );
  for (const { ruleId, ruleIndex } of results) expect(rules[ruleIndex]?.id).toBe(ruleId);
  expect(rules).toHaveLength(report.checks.length);
});

test.each([
  ["..", "acme.okta.com/policy/_.."],
  ["a/../../b", "acme.okta.com/policy/a%2F..%2F..%2Fb"],
])("a resource called %j stands at %s", (id, uri) => {
  const [result] = resultsOf({ findings: [aFinding({ resource: { type: "policy", id, name: id } })] });
  expect(result?.locations[0]?.physicalLocation.artifactLocation.uri).toBe(uri);
});

test("a name that is written as a link is no link in a message", () => {
  const finding = aFinding({ detail: "Application [sign in](https://evil.example) \\[x](y)" });
  expect(resultsOf({ findings: [finding] })[0]?.message.text).toBe(
    "Application \\[sign in\\](https://evil.example) \\\\\\[x\\](y)",
  );
});
