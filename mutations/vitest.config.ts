import { defineConfig } from "vitest/config";
import { fastTests } from "../vitest.config.ts";

/** The fast tests alone, because they meet each mutation within a second and need no server. */
export default defineConfig({ test: { ...fastTests, expect: { poll: { timeout: 15_000 } } } });
