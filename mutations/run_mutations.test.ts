import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mutate, namePattern, type Mutation } from "./mutation.ts";
import { runMutations, type MutationResult } from "./run_mutations.ts";

/** A project of two files: a bound, and tests of it, one of both its sides and one of neither. */

const product = `export function isFull(count: number): boolean {
  return count >= 3;
}
`;
const tests = `import { expect, test } from "vitest";
import { isFull } from "./product.ts";

test("three are full, two are not", () => {
  expect([isFull(2), isFull(3)]).toEqual([false, true]);
});
test("gives a boolean", () => {
  expect(typeof isFull(3)).toBe("boolean");
});
test("fails as it is", () => {
  expect(isFull(0)).toBe(true);
});
`;
const setUpFails = `import { beforeAll, test } from "vitest";
beforeAll(() => {
  throw new Error("no server");
});
test("never runs", () => {});
`;

let projectRoot: string;
let results: ReadonlyMap<string, MutationResult>;

beforeAll(async () => {
  projectRoot = await mkdtemp(join(tmpdir(), "scanstream-mutated-"));
  await writeFile(join(projectRoot, "package.json"), '{"type":"module"}');
  await writeFile(join(projectRoot, ".gitignore"), "node_modules\n");
  await writeFile(join(projectRoot, "product.ts"), product);
  await writeFile(join(projectRoot, "product.test.ts"), tests);
  await writeFile(join(projectRoot, "set_up.test.ts"), setUpFails);
  await symlink(join(import.meta.dirname, "../node_modules"), join(projectRoot, "node_modules"));
  execFileSync("git", ["init", "--quiet"], { cwd: projectRoot });
  const run = await runMutations({
    projectRoot,
    mutations: [
      mutation("seen", {}),
      mutation("not seen", { test: "gives a boolean" }),
      mutation("no code", { replace: "count >=" }),
      mutation("an unknown name", { replace: "cuont >= 3" }),
      mutation("nothing to replace", { find: "count > 3" }),
      mutation("no such test", { test: "four are full" }),
      mutation("a test that fails anyway", { test: "fails as it is" }),
      mutation("a set-up that fails", { testFile: "set_up.test.ts", test: "never runs" }),
    ],
    onResult: () => undefined,
    log: () => undefined,
  });
  results = new Map(run.map((result) => [result.mutation.mistake, result]));
});
afterAll(() => rm(projectRoot, { recursive: true, force: true }));

function mutation(mistake: string, changes: Partial<Mutation>): Mutation {
  return {
    mistake,
    holds: ["S6"],
    file: "product.ts",
    find: "count >= 3",
    replace: "count > 3",
    testFile: "product.test.ts",
    test: "three are full",
    ...changes,
  };
}

test.each([
  ["seen", "seen failing", "AssertionError"],
  ["not seen", "survived", "1 passed"],
  ["no code", "could not run", ""],
  ["an unknown name", "could not run", "cuont is not defined"],
  ["nothing to replace", "could not run", "does not occur in it"],
  ["no such test", "could not run", "no test has this name"],
  ["a test that fails anyway", "could not run", "fails without the mistake"],
  ["a set-up that fails", "could not run", ""],
])("a mutation that is %s is reported as %s", (mistake, verdict, words) => {
  expect(results.get(mistake)?.verdict).toBe(verdict);
  expect(results.get(mistake)?.detail).toContain(words);
});

test("the project itself is as it was", async () => {
  expect(await readFile(join(projectRoot, "product.ts"), "utf8")).toBe(product);
  expect((await readdir(projectRoot)).toSorted()).toEqual(
    [
      ".git",
      ".gitignore",
      "node_modules",
      "package.json",
      "product.test.ts",
      "product.ts",
      "set_up.test.ts",
    ].toSorted(),
  );
});

test("mutate refuses what occurs twice", () => {
  expect(() => mutate("a a", mutation("", { find: "a" }))).toThrow("more than once");
  expect(mutate("a $& b", mutation("", { find: "a", replace: "$&" }))).toBe("$& $& b");
});

test("namePattern matches what test.each and templates make of a title, and nothing else", () => {
  expect("%j wins (over) the query").toMatch(new RegExp(namePattern("%j wins (over)")));
  expect('suite "a\nb" wins (over) the query').toMatch(new RegExp(namePattern("%j wins (over)")));
  expect("x wins over the query").not.toMatch(new RegExp(namePattern("%j wins (over)")));
  expect("a database that is unavailable (cut): 503").toMatch(
    new RegExp(namePattern("a database that is unavailable (%s)")),
  );
  expect("$kind and ${driver}".replace("$kind", "one")).toMatch(new RegExp(namePattern("$kind and ${driver}")));
});
