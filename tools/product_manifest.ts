import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const productFolders = ["command_line", "drizzle", "gateway", "practice_org", "scanner", "shared"];
/** They run when something is built, and import what builds. */
const buildFiles = /(?:^|\/)build\.ts$|\.config\.ts$/;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Large, and a gateway with a Postgres of its own does without it. */
const embeddedDatabase = "@electric-sql/pglite";

/**
 * The packages that the product's own source imports, with their versions. They are development dependencies, because the
 * published bundle holds them; a checkout that only runs needs them, but no tools.
 */
export async function productPackages(root: string): Promise<Readonly<Record<string, string>>> {
  // A manifest that was reduced before has them in `dependencies`.
  const { dependencies = {}, devDependencies = {} } = await readManifest(root);
  const imported = await importedPackages(root);
  return Object.fromEntries(
    Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([name]) => imported.has(name) && name !== embeddedDatabase,
    ),
  );
}

async function importedPackages(root: string): Promise<ReadonlySet<string>> {
  const folders = productFolders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true }));
  const entries = [...(await Promise.all(folders)).flat(), ...(await readdir(root, { withFileTypes: true }))];
  const files = entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.filter((file) => !buildFiles.test(file)).map((file) => readFile(file, "utf8")));
  const imports = texts.flatMap((text) => [
    ...text.matchAll(/(?:\bfrom |\bimport ?\(?)"((?:@[^/"]+\/)?[^./"][^/"]*)/g),
  ]);
  return new Set(imports.map(([, name = ""]) => name));
}

async function readManifest(root: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
}

/**
 * Reduces `package.json` and its lock file in `root` to those packages, so that `npm ci` installs only them, at the versions
 * and with the checksums of the lock file.
 */
async function keepProductPackages(root: string): Promise<void> {
  const dependencies = await productPackages(root);
  const lockFile = join(root, "package-lock.json");
  const lock = JSON.parse(await readFile(lockFile, "utf8")) as { readonly packages: Record<string, Manifest> };
  // Undefined is left out of the file.
  const left = { devDependencies: undefined, peerDependencies: undefined, peerDependenciesMeta: undefined };
  const reduce = (manifest: Manifest) => ({ ...manifest, ...left, dependencies });
  await writeFile(join(root, "package.json"), JSON.stringify(reduce(await readManifest(root)), null, 2));
  const packages = { ...lock.packages, "": reduce(lock.packages[""] ?? {}) };
  await writeFile(lockFile, JSON.stringify({ ...lock, packages }, null, 2));
}

if (import.meta.main) await keepProductPackages(dirname(import.meta.dirname));
