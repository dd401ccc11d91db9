import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{test,soak,mutations}/**/*.test.ts"],
    globalSetup: ["test/support/global_setup.ts"],
    reporters:
      process.env["GITHUB_ACTIONS"] === "true"
        ? ["default", "github-actions", "./test/support/summary_reporter.ts"]
        : ["default", "./test/support/summary_reporter.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    typecheck: { enabled: true, include: ["test/**/*.test_d.ts"], tsconfig: "tsconfig.json" },
  },
});
