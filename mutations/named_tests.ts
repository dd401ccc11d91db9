import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** How one test ended. Tests that did not run are not among them. */
export interface TestOutcome {
  /** With the titles of its suites. */
  readonly name: string;
  readonly isPassed: boolean;
  /** Its failure messages; empty when it passed. */
  readonly failures: readonly string[];
}

export interface NamedTestsRun {
  readonly tests: readonly TestOutcome[];
  /** Why the whole file could not run: it does not load, or its set-up failed. Null when it ran. */
  readonly problem: string | null;
}

export interface NamedTestsOptions {
  readonly root: string;
  readonly file: string;
  /** A test that matches any of them is run. */
  readonly patterns: readonly string[];
  /** Stop at the first failure. */
  readonly stopsAtFailure: boolean;
}

/** Far above what the slowest file takes; a run that hangs must not block all others. */
const timeoutMs = 600_000;

/** Runs the named tests of one file in vitest, in a process of its own, and reads its JSON report. */
export async function runNamedTests({
  root,
  file,
  patterns,
  stopsAtFailure,
}: NamedTestsOptions): Promise<NamedTestsRun> {
  const report = join(root, ".mutation_report.json");
  await rm(report, { force: true });
  const vitest = join(dirname(createRequire(join(root, "package.json")).resolve("vitest/package.json")), "vitest.mjs");
  const child = spawn(
    process.execPath,
    [
      vitest,
      "run",
      file,
      `--testNamePattern=${patterns.map((pattern) => `(?:${pattern})`).join("|")}`,
      "--reporter=json",
      `--outputFile=${report}`,
      "--typecheck.enabled=false",
      // Caches would be written below the linked node_modules.
      "--cache=false",
      "--fsModuleCache=false",
      ...(stopsAtFailure ? ["--bail=1"] : []),
    ],
    { cwd: root, env: environment(), stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => void (output = (output + text).slice(-20_000)));
  }
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    killGroup(child.pid);
  }, timeoutMs);
  const onExit = () => killGroup(child.pid);
  // Before its files are removed.
  process.prependOnceListener("exit", onExit);
  await once(child, "exit");
  process.off("exit", onExit);
  clearTimeout(timer);
  // Processes that a failed test left running.
  killGroup(child.pid);
  if (isTimedOut) return { tests: [], problem: `the run took longer than ${timeoutMs / 1000} s` };
  const text = await readFile(report, "utf8").catch(() => null);
  return text === null ? { tests: [], problem: `vitest wrote no report: ${output.trim().slice(-2000)}` } : read(text);
}

/** Without the variables of a vitest that runs this process; and no run of a mistake may update the docs. */
function environment(): NodeJS.ProcessEnv {
  const isKept = (name: string) => !name.startsWith("VITEST") && name !== "UPDATE_DOCS";
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isKept(name))), NIGHTLY: "1" };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
}

/** The parts of vitest's JSON report (in Jest's format) that are read. */
interface JsonReport {
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

function read(text: string): NamedTestsRun {
  const { testResults } = JSON.parse(text) as JsonReport;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const tests = results
    .filter(({ status }) => status === "passed" || status === "failed")
    .map(({ fullName, status, failureMessages }) => ({
      name: fullName,
      isPassed: status === "passed",
      failures: failureMessages ?? [],
    }));
  const broken = testResults.find(({ status, message }) => status === "failed" && message !== "");
  const problem = broken?.message ?? (testResults.length === 0 ? "vitest ran no file" : null);
  return { tests, problem };
}
