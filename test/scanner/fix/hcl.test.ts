import * as fc from "fast-check";
import { expect, test } from "vitest";
import { expression, quote } from "../../../scanner/fix/hcl.ts";
import { identifier } from "../../../scanner/fix/terraform.ts";

/** Reads a text in quotation marks as Terraform does, https://developer.hashicorp.com/terraform/language/expressions/strings */
function unquote(text: string): string {
  const body = /^"((?:[^"\\\n]|\\.)*)"$/u.exec(text)?.[1];
  if (body === undefined) throw new Error(`${text} is no quoted text`);
  expect(body.replaceAll(/\\(?:u.{4}|.)/g, "\\")).not.toMatch(/[$%]\{/);
  return body.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/g, (_, unit: string | undefined, letter: string) => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return { n: "\n", r: "\r", t: "\t" }[letter] ?? letter;
  });
}

const hostileText = fc
  .array(fc.constantFrom("${", "%{", "$", "%", "{", "}", '"', "\\", "\n", "\r", "\t", "\u0000", "\u202E", "é", "a"))
  .map((parts) => parts.join(""));

test("any text comes back as it was, and no template in it is evaluated", () => {
  fc.assert(
    fc.property(fc.oneof(hostileText, fc.string({ unit: "grapheme" })), (text) => {
      const quoted = quote(text);
      expect(quoted).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
      return unquote(quoted) === text.toWellFormed();
    }),
  );
});

test("identifiers are valid, stable and different for different ids", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 5 }), (ids) => {
      const names = ids.map((id) => identifier("rule", id));
      return names.every((name) => /^[A-Za-z_]\w*$/.test(name)) && new Set(names).size === ids.length;
    }),
  );
});

test("a field may have the name of what every object has", () => {
  const value = JSON.parse('{"constructor": 1, "__proto__": "x", "a": true}') as Record<string, unknown>;
  expect(expression({ kind: "json", value })).toBe(
    'jsonencode({\n  constructor = 1\n  __proto__   = "x"\n  a           = true\n})',
  );
});
