import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasCode } from "../../shared/error_code.ts";

const folder = import.meta.dirname;
/** Holds the lock file that was installed last, so that an unchanged one costs nothing. */
const stamp = join(folder, "node_modules/.installed.json");

/** Installs Deno, Wrangler with workerd, and attw from this folder's own lock file. Throws where npm cannot. */
export function installRuntimes(): void {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  if (readOrNull(stamp) === lock) return;
  process.stderr.write("Installing Deno and Wrangler into test/runtimes\n");
  const { status, stderr } = spawnSync("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"], {
    encoding: "utf8",
  });
  if (status !== 0) {
    throw new Error(`Cannot install the runtimes: npm ci --prefix test/runtimes ended with ${status}:\n${stderr}`);
  }
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  writeFileSync(stamp, lock);
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
