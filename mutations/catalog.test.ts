import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "./catalog.ts";
import { fileToRun, mutate, namePattern, type Mutation } from "./mutation.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** A row of a table in the docs, and a test that it names: by its file, and the beginning of its title where it has one. */
interface NamedTest {
  readonly row: string;
  readonly testFile: string;
  readonly title: string;
}

function namedTests(page: string): readonly NamedTest[] {
  const rows = read(page)
    .split("\n")
    .filter((line) => line.startsWith("| "));
  return rows.flatMap((line) => {
    const row = (line.split(" | ")[0] ?? "").slice(2);
    return [...line.matchAll(/`(test\/[\w./]+\.ts)`(?:: ([^|·]+))?/g)].map(([, testFile = "", title = ""]) => ({
      row,
      testFile,
      title: title.trim(),
    }));
  });
}

const threats = namedTests("docs/threat_model.md");
const faults = namedTests("docs/reliability.md");
const promises = [
  ...Array.from({ length: 9 }, (_, n) => `S${n + 1}`),
  ...Array.from({ length: 6 }, (_, n) => `V${n + 1}`),
];

test.each(mutations.map((mutation) => [`${mutation.file}: ${mutation.mistake}`, mutation] as const))(
  "%s: can be made, and the test that is to see it is there",
  (_, mutation) => {
    const source = read(mutation.file);
    expect(mutate(source, mutation)).not.toBe(source);
    expect(mutation.file, "a test that is broken proves nothing").not.toMatch(/^test\//);
    expect(read(mutation.testFile)).toContain(`"${mutation.test}`);
    expect(fileToRun(mutation)).toMatch(/\.test\.ts$/);
    expect(existsSync(join(root, fileToRun(mutation)))).toBe(true);
    expect(() => new RegExp(namePattern(mutation.test))).not.toThrow();
  },
);

test("no mistake is made twice against one test", () => {
  const keys = mutations.map(({ file, find, replace, testFile, test }) =>
    [file, find, replace, testFile, test].join("\0"),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test("each test that a row of the threat model names has a mistake to see", () => {
  expect(threats.length).toBeGreaterThan(50);
  expect(threats.filter((named) => !mutations.some((mutation) => covers(mutation, named)))).toEqual([]);
});

test("each row of the reliability page has a mistake that its test sees", () => {
  expect(faults.length).toBeGreaterThan(10);
  expect(faults.filter((named) => !mutations.some((mutation) => covers(mutation, named)))).toEqual([]);
});

test.each(promises)("promise %s has a mistake that some test sees", (promise) => {
  expect(mutations.filter(({ holds }) => holds.includes(promise))).not.toEqual([]);
});

test("what a mistake is said to break is a promise, or a row of a page", () => {
  const known = new Set([...promises, ...[...threats, ...faults].map(({ row }) => row)]);
  for (const { mistake, holds } of mutations) {
    expect(holds.length, mistake).toBeGreaterThan(0);
    for (const held of holds) expect(known, mistake).toContain(held);
  }
});

function covers(mutation: Mutation, { row, testFile, title }: NamedTest): boolean {
  return mutation.holds.includes(row) && mutation.testFile === testFile && mutation.test.startsWith(title);
}
