import { globSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
// As the workers do.
import "./test/support/import_drizzle.ts";

/**
 * Tests that start a server other than Node (PostgreSQL, Redis, Chromium, workerd, Deno), run whole commands, or take long. All
 * others are fast; `test/support/machine_tools.ts` refuses to start such a server for a fast test.
 */
const system = [
  "test/{attacks,e2e,edge,faults,fuzz}/**/*.test.ts",
  "test/gateway/features/keeping/*.test.ts",
  "test/web/!(*_model).test.ts",
  "test/command_line/{node_version,state_lock}.test.ts",
  "test/drizzle/{isolation,migrate,neon,pg}.test.ts",
  "test/gateway/runtime/{serve,start_gateway}.test.ts",
  "test/gateway/{operator/call_admin,library/feature_tables}.test.ts",
  "test/gateway/features/team/on_postgres.test.ts",
  "test/lint/action.test.ts",
  "test/scanner/reports/{html_print,outside_readers}.test.ts",
  "test/scanner/streaming/*.test.ts",
  "test/shared/brokers/{contract,deno,redis,upstash}.test.ts",
  "test/examples/*.test.ts",
  "test/shared/client/subscribe.test.ts",
  "test/tools/package.test.ts",
];

/** Tests that take a minute each, for `npm run test:nightly`: large sizes, and faults on the other runtimes. */
const nightly = ["test/gateway/features/keeping/large_pages.test.ts", "test/faults/{on_deno,on_workerd}.test.ts"];

/** Measured on two cores: half a minute and more. One that begins last keeps a whole run waiting on one core. */
const longest =
  /\/(?:web\/(?:organization|recover|scenes|tasks|issuer_sign_in)|faults\/scan|edge\/(?:deno|node|workerd)|examples\/own_gateway|drizzle\/neon|verdicts\/verdicts|attacks\/hostile_answers|e2e\/(?:setup|start))\.test\.ts$/;

/** In a fresh clone nothing is known of how long a file takes, and its size says little. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => (longest.test(moduleId) ? 0 : 1);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

// Vitest answers a mistyped path with the patterns of every project.
const tests = globSync("test/**/*.test.ts", { cwd: import.meta.dirname });
for (const path of process.argv.slice(2).filter((argument) => /^(?:\.\/)?test\//.test(argument))) {
  const file = path.replace("./", "").replace(/:\d+$/, "");
  if (tests.some((test) => test.includes(file))) continue;
  process.stderr.write(`No test file has "${file}" in its path\n`);
  process.exit(1);
}

export default defineConfig({
  test: {
    reporters:
      process.env["GITHUB_ACTIONS"] === "true"
        ? ["default", "github-actions", "./test/support/summary_reporter.ts"]
        : ["default", "./test/support/summary_reporter.ts"],
    pool: "forks",
    // Optimizing PGlite takes longer than a test runs it.
    execArgv: ["--liftoff-only", "--import", import.meta.resolve("./test/support/import_drizzle.ts")],
    // Node strips the types itself: a worker that imports the whole gateway through Vite takes half as much CPU time again.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // More than two cores have use for: many system tests wait for a server or for time to pass.
    maxWorkers: 4,
    // More cases of the contract at a time would overload a gateway on two cores.
    maxConcurrency: 3,
    sequence: { sequencer: LongestFirst },
    // A test that hangs fails; a busy machine does not make one fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          // `*.test_d.ts` are the compiler's (`npm run types`).
          include: ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...system, ...nightly],
          env: { TEST_SPEED: "fast" },
          isolate: false,
          // More would cost CPU time: each worker imports everything and opens its own PGlite.
          maxWorkers: 2,
          globalSetup: ["test/support/global_setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          isolate: false,
          sequence: { groupOrder: 1 },
          include: system,
          exclude: nightly,
          globalSetup: ["test/support/global_setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "nightly",
          sequence: { groupOrder: 1 },
          include: nightly,
          globalSetup: ["test/support/global_setup.ts"],
        },
      },
    ],
  },
});
