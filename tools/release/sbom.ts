import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { keepProductPackages, productFolders } from "../product_manifest.ts";

const run = promisify(execFile);
const root = dirname(dirname(import.meta.dirname));
const formats = { cyclonedx: "sbom.cdx.json", spdx: "sbom.spdx.json" } as const;

/**
 * Writes the bills of materials of what is published: the packages that are in the bundle, at the versions of the lock file,
 * but no tools. `npm sbom` makes them.
 */
export async function writeSboms(folder: string): Promise<readonly string[]> {
  return withProductLock(async (work) => {
    await mkdir(folder, { recursive: true });
    return await Promise.all(
      Object.entries(formats).map(async ([format, file]) => {
        const args = [
          "sbom",
          "--package-lock-only",
          "--omit=dev",
          `--sbom-format=${format}`,
          "--sbom-type=application",
        ];
        const { stdout } = await run("npm", args, { cwd: work, maxBuffer: 64 * 1024 * 1024 });
        await writeFile(join(folder, file), stdout);
        return join(folder, file);
      }),
    );
  });
}

/** Calls `use` with a folder whose lock file has the packages of what is published, and none of the tools. */
export async function withProductLock<Result>(use: (work: string) => Promise<Result>): Promise<Result> {
  const temporary = await mkdtemp(join(tmpdir(), "sbom-"));
  // npm names the application as its folder.
  const work = join(temporary, packageJson.name);
  try {
    const sources = (await readdir(root)).filter((file) => file.endsWith(".ts"));
    const files = ["package.json", "package-lock.json", ...sources, ...productFolders];
    await Promise.all(files.map((file) => cp(join(root, file), join(work, file), { recursive: true })));
    await keepProductPackages(work);
    await requirePeers(join(work, "package.json"));
    // Marks as the product's what the lock file has as development dependencies, and drops the rest.
    await run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: work });
    return await use(work);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The embedded database is optional with the tarball, and inside the executables and the image. */
async function requirePeers(file: string): Promise<void> {
  const { peerDependencies, peerDependenciesMeta: _, ...manifest } = JSON.parse(await readFile(file, "utf8"));
  const dependencies = { ...manifest.dependencies, ...peerDependencies };
  await writeFile(file, JSON.stringify({ ...manifest, dependencies }));
}

if (import.meta.main) {
  for (const file of await writeSboms(resolve(process.argv[2] ?? "."))) process.stdout.write(`${file}\n`);
}
