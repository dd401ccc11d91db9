import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleWorker } from "../support/bundle_worker.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const folder = temporaryFolder();
/** A quarter of it is the PostgreSQL client of Neon's driver. */
const maxGzipBytes = 250 * 1024;

test("a Worker is at most 250 KiB when it is deployed, and holds nothing of other runtimes", async () => {
  const files = await bundleWorker(folder);
  const bundle = await readFile(join(folder, "main_worker.js"));
  expect(gzipSync(bundle).byteLength).toBeLessThanOrEqual(maxGzipBytes);
  // The files in the bundle show what an import brings.
  expect(files).toContain("gateway/runtime/main_worker.ts");
  const strangers =
    /^scanner\/|^test\/|node_modules\/(pg|pg-.*|@electric-sql|ioredis|prom-client|@hono\/node-server)\/|(^|:)node:/;
  expect(files.filter((path) => strangers.test(path))).toEqual([]);
  expect(bundle.toString()).not.toMatch(/(from|import|require\()\s*["']node:/);
});
