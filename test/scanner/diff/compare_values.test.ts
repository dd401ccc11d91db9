import { describe, expect, test } from "vitest";
import { compareObjects } from "../../../scanner/diff/compare_values.ts";

function changes(before: object, after: object) {
  return compareObjects({ ...before }, { ...after }).map(({ path, from, to }) => [path, from, to]);
}

describe("compareObjects", () => {
  test.each([
    ["a field at any depth", { a: { b: { c: 1, d: 2 } } }, { a: { b: { c: 3, d: 2 } } }, [["a.b.c", 1, 3]]],
    [
      "a field that was set, and one that was removed",
      { b: 1 },
      { a: 1 },
      [
        ["a", null, 1],
        ["b", 1, null],
      ],
    ],
    ["a list of texts as a whole", { a: ["x", "y"] }, { a: ["y", "z"] }, [["a", ["x", "y"], ["y", "z"]]]],
    [
      "an entry of a list by its id",
      {
        roles: [
          { id: "1", type: "A" },
          { id: "2", type: "B" },
        ],
      },
      {
        roles: [
          { id: "2", type: "C" },
          { id: "1", type: "A" },
        ],
      },
      [["roles[2].type", "B", "C"]],
    ],
    [
      "an entry that was made anew by its name",
      { roles: [{ id: "1", name: "A", on: true }] },
      { roles: [{ id: "2", name: "A", on: true }] },
      [["roles[A].id", "1", "2"]],
    ],
    ["an entry that was added", { a: [] }, { a: [{ id: "1" }] }, [["a[1]", null, { id: "1" }]]],
    [
      "a date that is a setting",
      { valid_to: "2027-01-01T00:00:00Z" },
      { valid_to: "2028-01-01T00:00:00Z" },
      [["valid_to", "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"]],
    ],
    ["a name that only looks like a timestamp's", { lastName: "A" }, { lastName: "B" }, [["lastName", "A", "B"]]],
    [
      "the access policy of an app",
      { _links: { accessPolicy: { href: "https://a.okta.com/api/v1/policies/rst1" } } },
      { _links: { accessPolicy: { href: "https://a.okta.com/api/v1/policies/rst2" } } },
      [["accessPolicy", "rst1", "rst2"]],
    ],
    ["a key such as __proto__", JSON.parse('{"__proto__": 1}') as object, {}, [["__proto__", 1, null]]],
  ])("says %s", (_, before, after, expected) => {
    expect(changes(before, after)).toEqual(expected);
  });

  test.each([
    ["the order of keys", { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }],
    ["the order of a list of texts", { a: ["x", "y"] }, { a: ["y", "x"] }],
    ["the order of a list of objects", { a: [{ v: 1 }, { v: 2 }] }, { a: [{ v: 2 }, { v: 1 }] }],
    [
      "timestamps",
      { created: "2026-01-01T00:00:00Z", lastUpdated: null },
      { created: "2026-02-01T00:00:00Z", lastUpdated: "2026-02-01T00:00:00Z" },
    ],
    ["links", { _links: { self: { href: "a" } }, _embedded: { x: 1 } }, { _links: { self: { href: "b" } } }],
    ["null and not set", { a: null }, {}],
  ])("%s makes no difference", (_, before, after) => {
    expect(changes(before, after)).toEqual([]);
  });
});
