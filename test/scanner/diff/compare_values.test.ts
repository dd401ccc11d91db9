import { describe, expect, test } from "vitest";
import { compareObjects } from "../../../scanner/diff/compare_values.ts";

/** Returns what was and what is, by path. */
function changes(before: object, after: object) {
  return Object.fromEntries(
    compareObjects({ ...before }, { ...after }).map(({ path, from, to }) => [path, [from, to]]),
  );
}

const role = (id: string, type: string) => ({ id, type });
const appOf = (policy: string) => ({
  _links: { accessPolicy: { href: `https://a.okta.com/api/v1/policies/${policy}` } },
});
const [early, late] = ["2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"];

describe("compareObjects", () => {
  test.each<[what: string, before: object, after: object, expected: object]>([
    ["a field at any depth", { a: { b: { c: 1, d: 2 } } }, { a: { b: { c: 3, d: 2 } } }, { "a.b.c": [1, 3] }],
    ["a field that was set, and one that was removed", { b: 1 }, { a: 1 }, { a: [null, 1], b: [1, null] }],
    ["a list of texts as a whole", { a: ["x", "y"] }, { a: ["z"] }, { a: [["x", "y"], ["z"]] }],
    [
      "an entry by its id",
      { a: [role("1", "A"), role("2", "B")] },
      { a: [role("2", "C"), role("1", "A")] },
      { "a[2].type": ["B", "C"] },
    ],
    [
      "an entry that was made anew by its name",
      { a: [{ id: "1", name: "A" }] },
      { a: [{ id: "2", name: "A" }] },
      { "a[A].id": ["1", "2"] },
    ],
    ["an entry that was added", { a: [] }, { a: [{ id: "1" }] }, { "a[1]": [null, { id: "1" }] }],
    ["a date that is a setting", { valid_to: early }, { valid_to: late }, { valid_to: [early, late] }],
    ["a name that only looks like a timestamp's", { lastName: "A" }, { lastName: "B" }, { lastName: ["A", "B"] }],
    ["the access policy of an app", appOf("rst1"), appOf("rst2"), { accessPolicy: ["rst1", "rst2"] }],
    ["a key such as __proto__", JSON.parse('{"__proto__": 1}'), {}, JSON.parse('{"__proto__": [1, null]}')],
  ])("says %s", (_, before, after, expected) => {
    expect(changes(before, after)).toEqual(expected);
  });

  test.each([
    ["the order of keys", { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }],
    ["the order of a list of texts", { a: ["x", "y"] }, { a: ["y", "x"] }],
    ["the order of a list of objects", { a: [{ v: 1 }, { v: 2 }] }, { a: [{ v: 2 }, { v: 1 }] }],
    ["timestamps", { created: early, lastUpdated: null }, { created: late, lastUpdated: late }],
    ["links", { _links: { self: { href: "a" } }, _embedded: { x: 1 } }, { _links: { self: { href: "b" } } }],
    ["null and not set", { a: null }, {}],
  ])("%s makes no difference", (_, before, after) => {
    expect(changes(before, after)).toEqual({});
  });
});
