import { array, assert, constantFrom, property } from "fast-check";
import { expect, test } from "vitest";
import { createDecisionFinder } from "../../../shared/decisions/decision_finder.ts";

const matches = (resource: string, name: string) =>
  createDecisionFinder([{ check: "c", resource }]).find("c", { id: "00T1", name }) !== undefined;

test.each([
  ["ci-*", "ci-", true],
  ["ci-*", "my ci-1", false],
  ["Sales*", "sales", false],
  ["two\nlines*", "two\nlines and more", true],
  ["[PROD]*", "[PROD] all", true],
  ["[PROD]*", "P all", false],
  ["{a,b}", "a", false],
  ["@(a|b)", "a", false],
  ["!a*", "b", false],
  ["50\\*", "50*", true],
  ["50\\*", "500", false],
  ["why\\?", "why?", true],
  ["CORP\\ann*", "CORP\\ann b", true],
  ["CORP\\\\*", "CORP\\ann", true],
])("%j and %j: %s", (pattern, name, expected) => {
  expect(matches(pattern, name)).toBe(expected);
});

test("the first of the decisions that match is found, exact or not", () => {
  const entries = ["other", "My*", "My app", null, "id1"].map((resource) => ({ check: "c", resource }));
  const { find } = createDecisionFinder(entries);
  expect(find("c", { id: "id1", name: "My app" })?.resource).toBe("My*");
  expect(find("c", { id: "id1", name: "Yours" })?.resource).toBeNull();
  expect(find("d", { id: "id1", name: "My app" })).toBeUndefined();
});

test("a pattern agrees with a regular expression of the same meaning", () => {
  const text = (...letters: readonly string[]) => array(constantFrom(...letters), { maxLength: 9 });
  assert(
    property(text("*", "?", "a", "b"), text("a", "b", "\u{1f600}"), (pattern, name) => {
      const meaning = pattern.map((letter) => ({ "*": ".*", "?": "." })[letter] ?? letter).join("");
      expect(matches(pattern.join(""), name.join(""))).toBe(new RegExp(`^${meaning}$`, "su").test(name.join("")));
    }),
    { numRuns: 3000 },
  );
});
