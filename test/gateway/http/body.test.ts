import * as v from "valibot";
import { expect, test } from "vitest";
import { parseBody, readJson } from "../../../gateway/http/body.ts";
import { InvalidBody } from "../../../gateway/http/problem.ts";

test("names every wrong field of a body, at most 20, and only the first of a large one", () => {
  const schema = v.object({ list: v.array(v.number()), name: v.string() });
  const pointersOf = (body: unknown) => {
    try {
      return parseBody(schema, body);
    } catch (error) {
      return error instanceof InvalidBody ? error.errors.map(({ pointer }) => pointer) : error;
    }
  };
  expect(pointersOf({ list: ["x"], name: 7 })).toEqual(["/list/0", "/name"]);
  expect(pointersOf({ list: Array.from({ length: 1000 }, () => "x"), name: 7 })).toHaveLength(20);
  expect(pointersOf({ list: Array.from({ length: 40_000 }, () => "x"), name: 7 })).toEqual(["/list/0"]);
  expect(() => parseBody(schema, { list: ["x"] })).toThrow("/list/0: expected number");
  expect(() => parseBody(schema, { list: [] })).toThrow("/name: is required");
});

const read = (body: string) => {
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  return readJson(new Request("http://gateway.test/", { method: "POST", body, headers }), { maxBytes: 1_048_576 });
};

test.each([
  ["deeper than 32 levels", "[".repeat(33) + "]".repeat(33), "nested"],
  ["of nothing but lists", `[${"[],".repeat(60_000)}[]]`, "values"],
])("refuses a body %s before it is parsed", async (_what, body, named) => {
  const message = expect.stringContaining(named) as string;
  await expect(read(body)).rejects.toMatchObject({ code: "too_large", message });
});

test("takes brackets and quotes inside of texts", async () => {
  const body = { text: '["\\'.repeat(100_000), list: [[[]]] };
  await expect(read(JSON.stringify(body))).resolves.toEqual(body);
});
