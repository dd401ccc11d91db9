import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutations } from "./catalog.ts";
import { fileToRun, mutate, type Mutation } from "./mutation.ts";

/** A row of a table in the docs and a test that it names: the file, and the beginning of the title where it gives one. */
interface NamedTest {
  readonly row: string;
  readonly testFile: string;
  readonly title: string;
}

const promises = [
  ...Array.from({ length: 9 }, (_, n) => `S${n + 1}`),
  ...Array.from({ length: 6 }, (_, n) => `V${n + 1}`),
];

/** One line for each place where the catalog no longer fits the code, the tests or the docs. */
export function catalogProblems(root: string): readonly string[] {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const namedTests = [...rowsOf(read("docs/threat_model.md")), ...rowsOf(read("docs/reliability.md"))];
  const held = new Set(mutations.flatMap(({ holds }) => holds));
  const known = new Set([...promises, ...namedTests.map(({ row }) => row)]);
  return [
    ...mutations.flatMap((mutation) => staleness(mutation, { root, read })),
    ...[...held].filter((name) => !known.has(name)).map((name) => `no promise and no row of a page: ${name}`),
    ...promises.filter((promise) => !held.has(promise)).map((promise) => `promise without a mistake: ${promise}`),
    ...namedTests
      .filter((named) => !mutations.some((mutation) => covers(mutation, named)))
      .map(({ row, testFile, title }) => `row without a mistake: ${row} (${testFile}: ${title})`),
  ];
}

interface Project {
  readonly root: string;
  readonly read: (path: string) => string;
}

function staleness(mutation: Mutation, { root, read }: Project): readonly string[] {
  const problems: string[] = [];
  try {
    mutate(read(mutation.file), mutation);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  const { testFile, test } = mutation;
  if (!existsSync(join(root, testFile))) problems.push(`there is no ${testFile}`);
  else if (!read(testFile).includes(`"${test}`))
    problems.push(`there is no test ${JSON.stringify(test)} in ${testFile}`);
  if (!existsSync(join(root, fileToRun(mutation)))) problems.push(`there is no ${fileToRun(mutation)}`);
  return problems.map((problem) => `${mutation.file}: ${mutation.mistake}: ${problem}`);
}

function rowsOf(page: string): readonly NamedTest[] {
  const rows = page.split("\n").filter((line) => line.startsWith("| "));
  return rows.flatMap((line) => {
    const row = (line.split(" | ")[0] ?? "").slice(2);
    return [...line.matchAll(/`((?:test|soak)\/[\w./]+\.ts)`(?:: ([^|·]+))?/g)].map(
      ([, testFile = "", title = ""]) => ({ row, testFile, title: title.trim() }),
    );
  });
}

function covers(mutation: Mutation, { row, testFile, title }: NamedTest): boolean {
  return mutation.holds.includes(row) && mutation.testFile === testFile && mutation.test.startsWith(title);
}
