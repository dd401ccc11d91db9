import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { wranglerEnvironment, wranglerProgram } from "./runtime_programs.ts";

const root = join(import.meta.dirname, "../..");

/** Writes what `wrangler deploy` would upload, `main_worker.js`, into the folder. Resolves with the files that are in it. */
export async function bundleWorker(folder: string): Promise<readonly string[]> {
  const metafile = join(folder, "meta.json");
  const args = ["deploy", "--dry-run", "--outdir", folder, "--metafile", metafile];
  await promisify(execFile)(process.execPath, [wranglerProgram(), ...args], {
    cwd: root,
    env: wranglerEnvironment(folder),
  });
  const { inputs } = JSON.parse(await readFile(metafile, "utf8")) as {
    readonly inputs: Readonly<Record<string, unknown>>;
  };
  return Object.keys(inputs);
}
