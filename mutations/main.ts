import { join } from "node:path";
import { parseArgs } from "node:util";
import { mutations } from "./catalog.ts";
import { catalogProblems } from "./catalog_problems.ts";
import type { Mutation } from "./mutation.ts";
import { runMutations, type MutationResult, type Verdict } from "./run_mutations.ts";

const usage =
  "Usage: npm run test:mutations -- [--only PATTERN] [--list] [--check]\n" +
  "  --only PATTERN  only those whose mistake, row, file or test matches this regular expression\n" +
  "  --list          list them, run nothing\n" +
  "  --check         list where the catalog no longer fits the code, run nothing";

const { values } = parse();
const only = new RegExp(values.only, "i");
const wanted = mutations.filter((mutation) => only.test(textOf(mutation)));
if (wanted.length === 0) {
  console.error(`No mutation matches ${JSON.stringify(values.only)}`);
  process.exit(2);
}
if (values.list) {
  for (const mutation of wanted)
    console.log(`${mutation.file}: ${mutation.mistake}\n  ${mutation.testFile}: ${mutation.test}`);
  process.exit(0);
}

const root = join(import.meta.dirname, "..");
const problems = catalogProblems(root);
for (const problem of problems) console.error(`stale: ${problem}`);
if (values.check) process.exit(problems.length === 0 ? 0 : 1);

// Each test run has a process group of its own: at exit it is killed and the copy removed.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const results = await runMutations({
  projectRoot: root,
  mutations: wanted,
  log: (line) => console.error(line),
  onResult: ({ mutation, verdict, detail, seconds }) =>
    console.log(
      `${verdict.padEnd(13)} ${seconds.toFixed(1).padStart(5)} s  ${mutation.file}: ${mutation.mistake}\n${" ".repeat(23)}${detail}`,
    ),
});
console.log(`\n${tableOf(results)}\n`);
console.log(
  `${count("seen failing")} seen failing, ${count("survived")} survived, ${count("could not run")} could not run, ${problems.length} stale`,
);
process.exit(count("seen failing") === results.length && problems.length === 0 ? 0 : 1);

function parse() {
  try {
    const flag = { type: "boolean", default: false } as const;
    return parseArgs({ options: { only: { type: "string", default: "" }, list: flag, check: flag } });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(2);
  }
}

function textOf({ mistake, holds, file, testFile, test }: Mutation): string {
  return [mistake, ...holds, file, testFile, test].join("\n");
}

function count(verdict: Verdict): number {
  return results.filter((result) => result.verdict === verdict).length;
}

function tableOf(rows: readonly MutationResult[]): string {
  const lines = rows.map(
    ({ mutation, verdict }) =>
      `| ${verdict} | ${mutation.holds.join("; ").replaceAll("|", "/")} | ${mutation.file}: ${mutation.mistake} | ${mutation.testFile}: ${mutation.test} |`,
  );
  return ["| verdict | holds | mistake | test |", "|---|---|---|---|", ...lines].join("\n");
}
