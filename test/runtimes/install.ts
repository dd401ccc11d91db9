import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const folder = import.meta.dirname;
/** Holds the lock file that was installed last, so that an unchanged one costs nothing. */
const stamp = join(folder, "node_modules/.installed.json");

/** Installs Deno, and Wrangler with workerd, from this folder's own lock file. Throws where npm cannot. */
export async function installRuntimes(): Promise<void> {
  const lock = await readFile(join(folder, "package-lock.json"), "utf8");
  if ((await readFile(stamp, "utf8").catch(() => null)) === lock) return;
  process.stderr.write("Installing Deno and Wrangler into test/runtimes\n");
  await promisify(execFile)("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"]);
  await writeFile(stamp, lock);
}

if (import.meta.main) await installRuntimes();
