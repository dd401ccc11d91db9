import * as v from "valibot";
import { expect, test } from "vitest";
import { parseBody, readJson } from "../../../gateway/http/body.ts";
import { InvalidBody } from "../../../gateway/http/problem.ts";

function pointersOf(schema: v.GenericSchema, body: unknown): readonly string[] {
  try {
    parseBody(schema, body);
    return [];
  } catch (error) {
    if (error instanceof InvalidBody) return error.errors.map(({ pointer }) => pointer);
    throw error;
  }
}

const inner = v.object({ name: v.optional(v.string()) });

test.each([
  ["the body", inner, [], [""]],
  ["a field", v.object({ a: inner }), { a: [] }, ["/a"]],
  ["an optional field", v.object({ a: v.optional(inner) }), { a: ["x"] }, ["/a"]],
  ["a field that may be null", v.object({ a: v.nullish(inner) }), { a: [] }, ["/a"]],
  ["an element", v.object({ a: v.array(inner) }), { a: [{}, []] }, ["/a/1"]],
  ["a value of a record", v.object({ a: v.record(v.string(), inner) }), { a: { b: [] } }, ["/a/b"]],
  ["a record", v.object({ a: v.record(v.string(), v.string()) }), { a: ["x"] }, ["/a"]],
  ["under a pipe", v.object({ a: v.pipe(v.array(inner), v.maxLength(5)) }), { a: [[]] }, ["/a/0"]],
  ["beside another mistake", v.strictObject({ a: inner, b: v.string() }), { a: [], b: 7 }, ["/a", "/b"]],
])("rejects an array in place of an object: %s", (_what, schema, body, pointers) => {
  expect(pointersOf(schema, body).toSorted()).toEqual(pointers);
});

test("accepts objects for objects, arrays for arrays, and absent fields", () => {
  const schema = v.object({ a: v.optional(inner), list: v.pipe(v.array(v.array(inner)), v.maxLength(5)) });
  expect(parseBody(schema, { a: { name: "x" }, list: [[{}]] })).toEqual({ a: { name: "x" }, list: [[{}]] });
  expect(parseBody(schema, { list: [] })).toEqual({ list: [] });
});

test.each([
  ["deeper than 32 levels", "[".repeat(33) + "]".repeat(33), "nested"],
  ["of nothing but lists", `[${"[],".repeat(60_000)}[]]`, "values"],
])("refuses a body %s before it is parsed", async (_what, body, named) => {
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const request = new Request("http://gateway.test/", { method: "POST", body, headers });
  await expect(readJson(request, { maxBytes: 1_048_576 })).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining(named),
  });
});

test("takes brackets and quotes inside of texts", async () => {
  const body = { text: '["\\'.repeat(100_000), list: [[[]]] };
  const request = new Request("http://gateway.test/", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  await expect(readJson(request, { maxBytes: 1_048_576 })).resolves.toEqual(body);
});
