import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { builtPackage, root } from "./built_package.ts";
import { requestSharedService } from "./shared_services.ts";

const run = promisify(execFile);

/** Copies the package into this folder, as `npm install` of its tarball left it in an empty one. */
export async function copyInstalled(folder: string): Promise<void> {
  const installed = await requestSharedService("installed");
  if (installed === null) throw new Error("Only system tests share an installed package");
  await cp(installed, folder, { recursive: true });
}

/**
 * Packs the built package and installs the tarball offline: it has no dependencies, so there is nothing to download. The folder is
 * outside of every package: npm would install into that one.
 */
export async function installTarball(folder: string): Promise<string> {
  const installed = join(folder, "installed");
  await mkdir(installed, { recursive: true });
  const tarball = await packTarball(join(folder, "package"));
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball], {
    cwd: installed,
  });
  return installed;
}

/** With `npm pack`, in a folder that does not exist yet: `dist/` of the checkout stays. Resolves with the tarball's path. */
async function packTarball(folder: string): Promise<string> {
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
