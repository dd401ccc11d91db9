import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { wranglerProgram } from "../test/runtimes/programs.ts";

const root = join(import.meta.dirname, "..");

/** W1: the Worker as it is deployed, without deploying it. */
export async function benchBundle(say: (line: string) => void) {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  try {
    await promisify(execFile)(process.execPath, [join(root, "tools/build_worker.ts")], { cwd: root });
    const args = [wranglerProgram(), "deploy", "--dry-run", "--minify", "--outdir", folder];
    await promisify(execFile)(process.execPath, args, {
      cwd: root,
      env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
    });
    const files = (await readdir(folder)).filter((name) => /\.(js|mjs|wasm)$/.test(name));
    const contents = await Promise.all(files.map((name) => readFile(join(folder, name))));
    const bytes = contents.reduce((sum, content) => sum + content.byteLength, 0);
    const gzipBytes = contents.reduce((sum, content) => sum + gzipSync(content).byteLength, 0);
    say(`W1 Worker bundle: ${(gzipBytes / 1024).toFixed(1)} KiB gzip`);
    return { files, bytes, gzipKiB: gzipBytes / 1024 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
