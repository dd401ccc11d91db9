import { defineConfig } from "vitest/config";
import { fastTests } from "../vitest.config.ts";

/** The unit tests of the mutated files. They need no server, so that each mutation costs a second at most. */
export default defineConfig({
  test: {
    ...fastTests,
    exclude: [...fastTests.exclude, "test/gateway/auth/permission*.test.ts", "test/shared/brokers/**"],
    include: [
      "test/scanner/evaluate.test.ts",
      "test/{scanner/{checks,evidence,idp},gateway/auth,gateway/streaming}/**/*.test.ts",
      "test/shared/*.test.ts",
    ],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
