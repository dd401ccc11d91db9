import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { root } from "./built_package.ts";
import { builtPackage } from "./command_line.ts";

const run = promisify(execFile);

/** Packs the built package with `npm pack` in a folder that does not exist yet: `dist/` of the checkout stays. Resolves with its path. */
export async function packTarball(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await cp(builtPackage, join(folder, "dist"), { recursive: true });
  // As a checkout in which the Worker was built, too.
  await mkdir(join(folder, "dist/worker"));
  await writeFile(join(folder, "dist/worker/index.js"), "");
  const copied = packageJson.files
    .filter((file) => file !== "dist" && !file.startsWith("!"))
    .map((file) => file.replace(/\/\*.*$/, ""));
  for (const file of new Set(["package.json", ...copied])) {
    await cp(join(root, file), join(folder, file), { recursive: true });
  }
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json"], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return join(folder, filename);
}

/** Into an empty folder, offline: it has no dependencies, so there is nothing to download. */
export async function installTarball(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", file], { cwd: folder });
}
