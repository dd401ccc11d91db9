import { assert, constantFrom, jsonValue, property, record, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { ContentError } from "../../../shared/usage_error.ts";
import { parseJsonText } from "../../../scanner/evidence/json_text.ts";

describe("parseJsonText", () => {
  test("reads JSON as JSON.parse does, however it is written", () => {
    assert(
      property(jsonValue(), constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJsonText(text, { repeatedKeys: "refuse" })).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("refuses a key that is given twice in one object, whatever the key is and however it is spelt", () => {
    const spelt = (key: string) => `"${Array.from(key, (letter) => escaped(letter)).join("")}"`;
    assert(
      property(record({ key: string({ maxLength: 8 }), inner: jsonValue() }), ({ key, inner }) => {
        const value = JSON.stringify(inner);
        const once = `[{${JSON.stringify(key)}: ${value}}, {${spelt(key)} : {"in": {${spelt(key)}:1}}}]`;
        expect(parseJsonText(once, { repeatedKeys: "refuse" })).toEqual(JSON.parse(once));
        const twice = `[{${JSON.stringify(key)}: ${value}, ${spelt(key)}\n: 1}]`;
        expect(() => parseJsonText(twice, { repeatedKeys: "refuse" })).toThrow(/is given twice/);
        expect(parseJsonText(twice)).toEqual(JSON.parse(twice));
      }),
      { numRuns: 1000 },
    );
  });

  test("refuses a text that is nested too deep", () => {
    expect(() => parseJsonText("[".repeat(100_000) + "]".repeat(100_000))).toThrow(/nested too deep/);
  });

  test.each(["", "[", '["', '["\\', "{}}", '{"a":1,}', "]]]]"])("refuses %j as JSON.parse does", (text) => {
    expect(() => parseJsonText(text)).toThrow(ContentError);
  });
});

test.each([
  ['{"a": 1,\n "b": tru}', "it is not JSON (line 2 column 7)"],
  ["hello", "it is not JSON (line 1 column 1)"],
  ['{\n // by Jane\n "a": 1}', "it is not JSON (line 2 column 2)"],
  ['{"a": 1', "the file is cut short"],
])("%j is refused with its line, or as cut short", (text, problem) => {
  expect(() => parseJsonText(text)).toThrow(new ContentError([problem]));
});

/** As `\u0061`; code points beyond as two of them. */
function escaped(letter: string): string {
  return Array.from({ length: letter.length }, (_, index) => letter.charCodeAt(index).toString(16).padStart(4, "0"))
    .map((hex) => `\\u${hex}`)
    .join("");
}
