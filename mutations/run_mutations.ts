import { fileToRun, namePattern, type Mutation } from "./mutation.ts";
import { runNamedTests, type NamedTestsRun } from "./named_tests.ts";
import { copyProject, type ProjectCopy } from "./project_copy.ts";

/**
 * `seen failing`: the named test passes with the code as it is, and fails with the mistake in it. `survived`: it passes all
 * the same, so it does not hold what the catalog says. `could not run`: the run has no result.
 */
export type Verdict = "seen failing" | "survived" | "could not run";

export interface MutationResult {
  readonly mutation: Mutation;
  readonly verdict: Verdict;
  /** What the test said, or why it could not be run. */
  readonly detail: string;
  readonly seconds: number;
}

export interface MutationRunOptions {
  readonly projectRoot: string;
  readonly mutations: readonly Mutation[];
  readonly onResult: (result: MutationResult) => void;
  readonly log: (line: string) => void;
}

/** Makes each mistake, one at a time, in a copy of the project, and checks that the named test fails. */
export async function runMutations(options: MutationRunOptions): Promise<readonly MutationResult[]> {
  const { projectRoot, mutations, onResult, log } = options;
  const copy = await copyProject(projectRoot);
  try {
    const results: MutationResult[] = [];
    const byFile = Map.groupBy(mutations, fileToRun);
    for (const [file, ofFile] of byFile) {
      log(`${file}: without mistakes`);
      const patterns = [...new Set(ofFile.map(({ test }) => namePattern(test)))];
      const unmodified = await runNamedTests({ root: copy.root, file, patterns, stopsAtFailure: false });
      for (const mutation of ofFile) {
        const startedMs = performance.now();
        const outcome = whyNotTried(unmodified, mutation) ?? (await withMistake(copy, mutation));
        const result = { mutation, ...outcome, seconds: (performance.now() - startedMs) / 1000 };
        results.push(result);
        onResult(result);
      }
    }
    return results;
  } finally {
    await copy.remove();
  }
}

type Outcome = Pick<MutationResult, "verdict" | "detail">;

/** Why the mutation cannot be tried: its test does not pass, or does not exist. Null when it passes. */
function whyNotTried({ tests, problem }: NamedTestsRun, { test }: Mutation): Outcome | null {
  const pattern = new RegExp(namePattern(test));
  const named = tests.filter(({ name }) => pattern.test(name));
  const failed = named.find(({ isPassed }) => !isPassed);
  if (failed !== undefined) return couldNot(`fails without the mistake: ${firstLine(failed.failures)}`);
  if (named.length > 0) return null;
  return couldNot(problem === null ? "no test has this name" : `without the mistake: ${firstLine([problem])}`);
}

async function withMistake(copy: ProjectCopy, mutation: Mutation): Promise<Outcome> {
  const run = () =>
    runNamedTests({
      root: copy.root,
      file: fileToRun(mutation),
      patterns: [namePattern(mutation.test)],
      stopsAtFailure: true,
    });
  const { tests, problem } = await copy.whileMutated(mutation, run).catch((error: unknown) => ({
    tests: [],
    problem: error instanceof Error ? error.message : String(error),
  }));
  const failures = tests.filter(({ isPassed }) => !isPassed).flatMap((failed) => failed.failures);
  const seen = failures.find((failure) => !isBrokenCode(failure));
  if (seen !== undefined) return { verdict: "seen failing", detail: firstLine([seen]) };
  if (failures.length > 0) return couldNot(`the mistake is no working code: ${firstLine(failures)}`);
  if (problem !== null) return couldNot(firstLine([problem]));
  if (tests.length === 0) return couldNot("no test ran");
  return { verdict: "survived", detail: `${tests.length} passed` };
}

/** A typing error in the mutation would make any test fail. A SyntaxError about JSON is not one: the JSON is not code. */
function isBrokenCode(failure: string): boolean {
  return /^(?:SyntaxError(?!.*JSON)|ReferenceError|Error: Cannot find (?:module|package)|Error: Failed to (?:load|resolve))/.test(
    failure,
  );
}

function couldNot(detail: string): Outcome {
  return { verdict: "could not run", detail };
}

function firstLine(texts: readonly string[]): string {
  const [line = ""] = (texts[0] ?? "").split("\n");
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`;
}
