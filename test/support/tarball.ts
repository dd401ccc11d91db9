import { execFile } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Metafile } from "esbuild";
import packageJson from "../../package.json" with { type: "json" };
import { buildPackage } from "../../tools/build.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

export interface Tarball {
  readonly file: string;
  readonly metafile: Metafile;
}

/** What `npm pack` makes, built and packed in a folder that does not exist yet: `dist/` of the checkout stays. */
export async function packTarball(folder: string): Promise<Tarball> {
  await mkdir(folder, { recursive: true });
  const metafile = await buildPackage(join(folder, "dist"));
  const copied = packageJson.files
    .filter((file) => file !== "dist" && !file.startsWith("!"))
    .map((file) => file.replace(/\/\*.*$/, ""));
  for (const file of new Set(["package.json", ...copied])) {
    await cp(join(root, file), join(folder, file), { recursive: true });
  }
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json"], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return { file: join(folder, filename), metafile };
}

/** Into an empty folder, offline: it has no dependencies, so there is nothing to download. */
export async function installTarball({ file }: Tarball, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", file], { cwd: folder });
}
