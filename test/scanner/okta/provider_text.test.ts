import { describe, expect, test } from "vitest";
import { pathSegment } from "../../../scanner/okta/idp_client.ts";
import { cleanDistinguishedName, cleanProviderText, parseBody } from "../../../scanner/okta/provider_text.ts";
import { isLine } from "../../../shared/text.ts";

const clean = (value: unknown) => cleanProviderText(structuredClone(value), { pageField: "pageContent" });
const cleanId = (id: string) => (clean({ id }) as { readonly id: string }).id;

describe("makes every text one well-formed line", () => {
  test.each([
    ["a lone high surrogate", "a\ud800b", "a\uFFFDb"],
    ["a pair the wrong way round", "\udc00\ud800", "\uFFFD\uFFFD"],
    ["NUL", "bad\0name", "bad\uFFFDname"],
    ["a terminal's escape", "\u001b[2Jx\u0007", "\uFFFD[2Jx\uFFFD"],
    ["C1 controls", "a\u009b\u0085b", "a\uFFFDb"],
    ["line breaks", "x\r\n=1+1\u2028y", "x =1+1 y"],
    ["a tab", "a\tb", "a b"],
    ["marks of direction", "a\u202e\u2066b", "a\uFFFDb"],
  ])("%s", (_, before, after) => {
    expect(clean({ name: before })).toEqual({ name: after });
    expect(clean([before])).toEqual([after]);
  });

  test("keys become one well-formed line too, and two never become the same", () => {
    const keys = Object.keys(clean({ "a\0": 1, "a\u0001": 2, a: 3 }) as object);
    expect(keys).toHaveLength(3);
    for (const key of keys) expect(isLine(key, 2000), key).toBe(true);
  });

  test("texts below __proto__ become one line, and it stays a key", () => {
    const cleaned = clean(JSON.parse('{"__proto__":{"name":"\\ud800"},"\\u0000":1}')) as object;
    expect(Object.keys(cleaned)).toContain("__proto__");
    expect(Object.getPrototypeOf(cleaned)).toBe(Object.prototype);
    expect(JSON.stringify(cleaned)).toContain('"__proto__":{"name":"\uFFFD"}');
  });
});

test("a page keeps its lines, and loses only what no text can hold", () => {
  const page = `<script>\n// a\r\nx = "\t\u001b"\n</script>${"x".repeat(3000)}`;
  expect(clean({ pageContent: page })).toEqual({ pageContent: page });
  expect(clean({ pageContent: "a\0b\ud800" })).toEqual({ pageContent: "a\uFFFDb\uFFFD" });
  expect(clean({ pageContent: ["a\u202e\nb"] })).toEqual({ pageContent: ["a\uFFFD b"] });
});

describe("an id that had to be changed", () => {
  const odd = [
    "00u1\0",
    "00u1\u0001",
    "00u1\ud800",
    "00u1\ud801",
    "00u1\n",
    "00u1 ".repeat(1000),
    "00u1 ".repeat(1001),
  ];

  test("stays another than every other id", () => {
    const cleaned = odd.map(cleanId);
    expect(new Set([...cleaned, "00u1"]).size).toBe(odd.length + 1);
    for (const id of cleaned) expect(isLine(id, 200), id).toBe(true);
  });

  test("is the same wherever it stands: in a list of ids, as the id of another, as a key", () => {
    for (const id of odd) {
      const cleaned = clean({ id, userId: id, network: { include: [id] }, [id]: 1 }) as Record<string, unknown>;
      const expected = cleanId(id);
      expect(cleaned).toMatchObject({ id: expected, userId: expected, network: { include: [expected] } });
      expect(Object.keys(cleaned)).toContain(expected);
    }
  });

  test("is never sent back", () => {
    for (const id of odd) expect(pathSegment(cleanId(id)), JSON.stringify(id)).toBeNull();
  });
});

test("pathSegment takes no value of another type, no blank, and no dots that lead to another path", () => {
  for (const id of ["", ".", "..", "a b", "\ud800", "a\0", "\uFFFD", "x".repeat(201), 7, null, {}, []])
    expect(pathSegment(id), JSON.stringify(id)).toBeNull();
});

test("a name that a certificate prints in lines keeps its parts apart", () => {
  expect(cleanDistinguishedName("C=US\nO=A\\, B\nOU=DoD")).toBe("C=US, O=A\\, B, OU=DoD");
  expect(clean({ issuer: "C=US\nOU=DoD" })).toEqual({ issuer: "C=US, OU=DoD" });
  expect(clean({ issuer: "OU=DoD\0EA" })).toEqual({ issuer: "OU=DoD\uFFFDEA" });
});

test("a number that no double can hold is no number, so that a saved file says the same", () => {
  const parsed = parseBody('{"a":1e999,"b":[-1e999],"c":1e308}');
  expect(parsed).toMatchObject({ kind: "json", value: { a: "Infinity", b: ["-Infinity"], c: 1e308 } });
});
