import { defineConfig } from "vitest/config";
import { fastTests } from "../vitest.config.ts";

/** The unit tests of the mutated files. They need no server, so that each mutation costs a second at most. */
export default defineConfig({
  test: {
    ...fastTests,
    include: ["test/{scanner,gateway/auth,gateway/streaming}/**/*.test.ts", "test/shared/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
