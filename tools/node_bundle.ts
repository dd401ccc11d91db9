import { dirname } from "node:path";
import type { BuildOptions } from "esbuild";

/**
 * How Node runs a bundle. Neither minified nor with source maps: stack traces can be read, and it starts no slower. Whoever
 * bundles `@electric-sql/pglite` provides the files that it reads.
 */
export const nodeBundle = {
  absWorkingDir: dirname(import.meta.dirname),
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22",
  // A package's ES modules before its UMD, whose own `require` cannot be bundled.
  mainFields: ["module", "main"],
  // `pg` looks for its native twin and does without.
  external: ["pg-native"],
  // hono-openapi can describe the schemas of Zod too, which is large; ours are all of Valibot.
  alias: { "zod/v4/core": "valibot" },
  // Packages in CommonJS require Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
  metafile: true,
} as const satisfies BuildOptions;
