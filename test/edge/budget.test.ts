import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { wranglerEnvironment, wranglerProgram } from "../support/runtime_programs.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/** A quarter of it is the PostgreSQL client of Neon's driver. */
const maxGzipBytes = 250 * 1024;

test("a Worker is at most 250 KiB when it is deployed, and holds nothing of other runtimes", async () => {
  await using folder = await temporaryFolder();
  const metafile = join(folder.path, "meta.json");
  const args = [wranglerProgram(), "deploy", "--dry-run", "--outdir", folder.path, "--metafile", metafile];
  await promisify(execFile)(process.execPath, args, {
    cwd: join(import.meta.dirname, "../.."),
    env: wranglerEnvironment(folder.path),
  });
  const bundle = await readFile(join(folder.path, "main_worker.js"));
  expect(gzipSync(bundle).byteLength).toBeLessThanOrEqual(maxGzipBytes);
  // The files in the bundle show what an import brings.
  const { inputs } = JSON.parse(await readFile(metafile, "utf8")) as { readonly inputs: object };
  const files = Object.keys(inputs);
  expect(files).toContain("gateway/runtime/main_worker.ts");
  const strangers =
    /^scanner\/|^test\/|node_modules\/(pg|pg-.*|@electric-sql|ioredis|prom-client|@hono\/node-server)\/|(^|:)node:/;
  expect(files.filter((path) => strangers.test(path))).toEqual([]);
  expect(bundle.toString()).not.toMatch(/(from|import|require\()\s*["']node:/);
});
