import { expect, test } from "vitest";
import { parseDecisions } from "../../../scanner/decisions/decision_file.ts";
import { applyWaivers } from "../../../scanner/decisions/apply_decisions.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { aCheckResult, aFinding } from "../../support/report_builders.ts";

/** Files that come with a pull request: a bound, and an error that says what and where. */

const check = "signon_global_session_idle_timeout_15min";
const source = { option: "--decisions", file: "decisions.json", rules: stigRuleNames };
const waiver = { check, reason: "x", by: "me", expires: "never" };

test.each<[string, string, RegExp]>([
  [
    "10,001 entries",
    JSON.stringify(Array.from({ length: 10_001 }, () => waiver)),
    /decisions has 10001 entries: expected 10000/,
  ],
  [
    "a pattern of 1,001 characters",
    JSON.stringify([{ ...waiver, resource: "a".repeat(1001) }]),
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
  const patterns = Array.from({ length: 10_000 }, (_, index) => `*${"a?".repeat(400)}${index}`);
  const resources = [...patterns.slice(0, -2), "id7", "My app"];
  const { waivers } = parseDecisions(JSON.stringify(resources.map((resource) => ({ ...waiver, resource }))), source);
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
