import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../../command_line/exit_code.ts";
import { referencePages } from "../../tools/reference.ts";
import { exitCodeEntries } from "../../tools/reference_tables.ts";

const folder = join(import.meta.dirname, "../../docs/reference");

test("docs/reference is what the commands say now: npm run docs:reference", async () => {
  const stored = await Promise.all(
    (await readdir(folder)).map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const),
  );
  expect(Object.fromEntries(stored)).toEqual(referencePages());
});

test("every exit code is described", () => {
  expect(exitCodeEntries.map(([code]) => Number(code))).toEqual(Object.values(exitCodes));
});
