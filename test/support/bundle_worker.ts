import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { wranglerEnvironment, wranglerProgram } from "../runtimes/programs.ts";

const root = join(import.meta.dirname, "../..");

export interface WorkerBundle {
  /** What wrangler said of it. */
  readonly output: string;
  /** Of esbuild: every file that went in, and what it imports. */
  readonly metafile: {
    readonly inputs: Readonly<Record<string, { readonly imports: readonly { readonly path: string }[] }>>;
  };
}

/** What `wrangler deploy` would upload, as `main_worker.js` in the folder. Needs no account. */
export async function bundleWorker(folder: string, environment?: string): Promise<WorkerBundle> {
  const args = ["deploy", "--dry-run", "--outdir", folder, "--metafile", join(folder, "meta.json")];
  if (environment !== undefined) args.push("--env", environment);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [wranglerProgram(), ...args], {
    cwd: root,
    env: wranglerEnvironment(folder),
  });
  return { output: stdout + stderr, metafile: JSON.parse(await readFile(join(folder, "meta.json"), "utf8")) };
}
