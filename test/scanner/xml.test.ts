import { assert, constantFrom, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { parseXml } from "../../scanner/read_xml.ts";
import { element, writeXml } from "../../scanner/xml.ts";

const hostile = oneof(
  string({ unit: "binary" }),
  string({
    unit: constantFrom("&", "<", ">", '"', "'", "]]>", "&amp;", "\r", "\n", "\t", "\u0000", "\ud800", "-"),
  }),
);

test("a text or an attribute is read back as it was written, but for characters that XML has not", () => {
  assert(
    property(hostile, hostile, (text, value) => {
      const [child] = parseXml(writeXml(element("a", [element("b", text, { c: value })]))).children;
      const known = (given: string) =>
        given.toWellFormed().replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
      expect([child?.text, child?.attributes["c"]]).toEqual([known(text), known(value)]);
    }),
  );
});
