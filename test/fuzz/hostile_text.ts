import { array, constantFrom, integer, oneof, type Arbitrary } from "fast-check";

/** Text as a hostile provider sends it. fast-check makes no lone surrogates, whatever its unit: it is built from code units. */

const codeUnits = [
  ..."a.A/ =<&;:0\\\"'+@-".split(""),
  ..."\0\u0001\t\n\r\u001b\u007f\u0085\u009b\u2028\u202e\u2066\ufeff\uffff\ufffd\u00ad\u200d".split(""),
  ..."\ud800\udbff\udc00\udfff".split(""),
];

const wholeTexts = [
  "",
  ".",
  "..",
  "../../oauth2/v1/token",
  "%2e%2e",
  "a/b?c#d",
  "a\ud83d",
  "\ude00a",
  "\ud800\udc00\ud800",
  "bad\u0000name",
  "\u001b[2J\u001b]0;owned\u0007",
  "x\r\n::error::forged",
  "\u202eevil\u2066",
  "]]><script>alert(1)</script><!--",
  "&#0;&#xD800;",
  "__proto__",
  "constructor",
  "toString",
  "OU=DoD\u0000EA",
  "https://evil.example//..%2f",
  "😀".repeat(40),
];

/** Every key and string in a value. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

const codeUnit = oneof(
  constantFrom(...codeUnits),
  integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

/** Texts for properties. */
export const hostileString: Arbitrary<string> = oneof(
  array(codeUnit, { maxLength: 12 }).map((units) => units.join("")),
  constantFrom(...wholeTexts),
);
