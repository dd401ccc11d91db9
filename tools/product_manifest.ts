import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * The packages that the product's own source imports. They are development dependencies, because what is published holds them
 * in its bundle; whoever runs the source needs them, and none of the tools beside them.
 */
const productFolders = ["command_line", "drizzle", "gateway", "practice_org", "scanner", "shared"];
/** They run when something is built, and import what builds. */
const buildFiles = /(?:^|\/)build\.ts$|\.config\.ts$/;

interface Manifest {
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export async function productPackages(root: string): Promise<Readonly<Record<string, string>>> {
  const { devDependencies = {}, peerDependencies = {} } = await readManifest(root);
  const imported = await importedPackages(root);
  return Object.fromEntries(
    Object.entries(devDependencies).filter(([name]) => imported.has(name) && !(name in peerDependencies)),
  );
}

async function importedPackages(root: string): Promise<ReadonlySet<string>> {
  const folders = productFolders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true }));
  const entries = [...(await Promise.all(folders)).flat(), ...(await readdir(root, { withFileTypes: true }))];
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.filter((file) => !buildFiles.test(file)).map((file) => readFile(file, "utf8")));
  const imports = texts.flatMap((text) => [...text.matchAll(/(?:\bfrom |\bimport ?\(?)"((?:@[^/"]+\/)?[^./"][^/"]*)/g)]);
  return new Set(imports.map(([, name = ""]) => name));
}

async function readManifest(root: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
}

/**
 * Reduces `package.json` and its lock file in `root` to those packages, so that `npm ci` installs only them, at the versions
 * and with the checksums of the lock file.
 */
export async function keepProductPackages(root: string): Promise<void> {
  const dependencies = await productPackages(root);
  const lockFile = join(root, "package-lock.json");
  const lock = JSON.parse(await readFile(lockFile, "utf8")) as { readonly packages: Record<string, Manifest> };
  const reduce = ({ devDependencies: _, ...manifest }: Manifest) => ({ ...manifest, dependencies });
  await writeFile(join(root, "package.json"), JSON.stringify(reduce(await readManifest(root)), null, 2));
  const packages = { ...lock.packages, "": reduce(lock.packages[""] ?? {}) };
  await writeFile(lockFile, JSON.stringify({ ...lock, packages }, null, 2));
}

if (import.meta.main) await keepProductPackages(dirname(import.meta.dirname));
