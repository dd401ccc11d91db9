import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleWorker } from "../support/bundle_worker.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const run = promisify(execFile);
const folder = temporaryFolder();
const maxGzipBytes = 140 * 1024;

test("a Worker is at most 140 KiB when it is deployed, and holds nothing of other runtimes", async () => {
  const { output, metafile } = await bundleWorker(folder);
  const [, unit] = /gzip: ([\d.]+ KiB)/.exec(output) ?? [];
  console.log(`The Worker's bundle: ${unit} gzip`);
  const bundle = await readFile(join(folder, "main_worker.js"));
  expect(gzipSync(bundle).byteLength).toBeLessThanOrEqual(maxGzipBytes);
  const gzipKib = Number.parseFloat(unit ?? "");
  expect(gzipKib).toBeLessThanOrEqual(140);
  const page = await readFile(join(import.meta.dirname, "../../docs/performance.md"), "utf8");
  const [, documented] = /^\| Worker bundle \| (\d+) KiB gzip \|$/m.exec(page) ?? [];
  expect(Math.abs(Number(documented) - gzipKib), "docs/performance.md is as it is, within 3 KiB").toBeLessThan(3);
  // What an import would bring, by the files that are in it.
  const files = Object.keys(metafile.inputs);
  expect(files).toContain("gateway/runtime/main_worker.ts");
  const strangers =
    /^scanner\/|^test\/|node_modules\/(pg|pg-.*|@electric-sql|ioredis|prom-client|@hono\/node-server)\/|(^|:)node:/;
  expect(files.filter((path) => strangers.test(path))).toEqual([]);
  expect(bundle.toString()).not.toMatch(/(from|import|require\()\s*["']node:/);
});

test("starting it costs little, and nothing at import needs a runtime of its own", async () => {
  // In a process of its own: here everything that is imported is transformed first.
  const url = pathToFileURL(join(folder, "main_worker.js")).href;
  const script = `
    const startedMs = performance.now();
    const worker = await import(${JSON.stringify(url)});
    console.log(JSON.stringify({ startMs: performance.now() - startedMs, names: Object.keys(worker).sort() }));`;
  const { stdout } = await run(process.execPath, ["--no-warnings", "--input-type=module", "--eval", script]);
  const { startMs, names } = JSON.parse(stdout) as { readonly startMs: number; readonly names: readonly string[] };
  console.log(`The Worker's start: ${Math.round(startMs)} ms on this machine; Cloudflare allows 1000 ms of its own`);
  expect(names).toEqual(["StreamsObject", "default"]);
  expect(startMs).toBeLessThan(1000);
});

test("the Worker's files are typed without Node", async () => {
  const root = join(import.meta.dirname, "../..");
  await expect(run("node_modules/.bin/tsc", ["-p", "gateway/runtime/worker"], { cwd: root })).resolves.toBeDefined();
});
