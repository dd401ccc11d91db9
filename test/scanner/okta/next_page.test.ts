import { expect, test } from "vitest";
import { parseNextLink } from "../../../scanner/okta/next_page.ts";

const self = '<https://test.okta.com/api/v1/idps?limit=20>; rel="self"';
const next = '<https://test.okta.com/api/v1/idps?after=0oa1&limit=20>; rel="next"';
const target = "https://test.okta.com/api/v1/idps?after=0oa1&limit=20";

test.each([
  ["self, then next", `${self}, ${next}`],
  ["next alone", next],
  ["next, then self", `${next},${self}`],
  ["no quotes", next.replaceAll('"', "")],
  ["upper case", next.replace('rel="next"', 'REL="NEXT"')],
  ["several relations", next.replace('"next"', '"last next"')],
  ["other parameters", next.replace("; rel", '; title="a, b; c"; rel')],
  ["a flag parameter", next.replace("; rel", "; crossorigin; rel")],
  ["blanks everywhere", `  ${next.replace("; rel=", " ;  rel = ")}  , `],
  ["the same next twice", `${next}, ${next}`],
])("parseNextLink finds next in %s", (_, header) => {
  expect(parseNextLink(header)).toEqual({ kind: "next", target });
});

test("parseNextLink keeps commas, semicolons and quotes inside a target", () => {
  const odd = 'https://test.okta.com/api/v1/apps?filter=name eq "a";b,c&after=1';
  expect(parseNextLink(`${self}, <${odd}>; rel="next"`)).toEqual({ kind: "next", target: odd });
});

test.each([
  ["no header", null],
  ["an empty header", " "],
  ["self only", self],
  ["a relation that only begins like it", '<https://a/b>; rel="next-archive"'],
  ["a title that says next", '<https://a/b>; rel="self"; title="rel=next"'],
  ["rubbish without the word", "none of your business"],
])("parseNextLink gives none for %s", (_, header) => {
  expect(parseNextLink(header)).toEqual({ kind: "none" });
});

test.each([
  ["no angle brackets", 'https://test.okta.com/api/v1/idps?after=1; rel="next"'],
  ["an open angle bracket", '<https://test.okta.com/api/v1/idps?after=1; rel="next"'],
  ["an open quote", '<https://test.okta.com/api/v1/idps?after=1>; rel="next'],
  ["rubbish after self", `${self}, next please`],
  ["an empty target", '<>; rel="next"'],
  ["two different nexts", `${next}, <https://test.okta.com/other>; rel="next"`],
])("parseNextLink calls it broken, not the end: %s", (_, header) => {
  expect(parseNextLink(header)).toEqual({ kind: "broken" });
});
