import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeRules, describeSchema, describeSettings, schemaNames } from "../../../tools/schemas.ts";

const root = join(import.meta.dirname, "../../..");

test.each(schemaNames)("%s.schema.json is what its schema gives: `tools/schemas.ts` writes it", async (name) => {
  const committed: unknown = JSON.parse(await readFile(join(root, `shared/${name}.schema.json`), "utf8"));
  expect(committed).toEqual(JSON.parse(JSON.stringify(describeSchema(name))));
});

test("the generated pages of docs/reference are what their tables give", async () => {
  const page = (name: string) => readFile(join(root, "docs/reference", name), "utf8");
  expect(await page("settings.md")).toBe(describeSettings());
  expect(await page("rules.md")).toBe(describeRules());
});
