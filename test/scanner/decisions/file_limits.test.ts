import { expect, test } from "vitest";
import { parseDecisions } from "../../../scanner/decisions/decision_file.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";

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
