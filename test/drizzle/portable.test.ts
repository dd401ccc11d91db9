import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("what a Worker needs of the database bundles without Node, pg or PGlite", async () => {
  const entry = `
    export * from "./schema.ts";
    export * from "./transactions.ts";
    export * from "./database_error.ts";
    export * from "./databases/neon.ts";
  `;
  const { outputFiles, metafile, warnings } = await build({
    stdin: { contents: entry, resolveDir: fileURLToPath(new URL("../../drizzle", import.meta.url)), loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    // No runtime's own modules: an import of node: would not resolve.
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
  });
  expect(warnings).toEqual([]);
  expect(Object.keys(metafile.inputs).filter((path) => /node_modules\/(pg|pg-.*|@electric-sql)\//.test(path))).toEqual(
    [],
  );
  expect(gzipSync(outputFiles[0]?.contents ?? "").byteLength).toBeLessThan(84 * 1024);
});
