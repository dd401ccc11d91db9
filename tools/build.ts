import { cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { build, type Metafile } from "esbuild";
import { buildPage } from "../gateway/web/build.ts";
import { buildModules } from "./build_modules.ts";
import { nodeBundle } from "./node_bundle.ts";
import { schemaNames } from "./schemas.ts";
import { thirdPartyLicenses } from "./third_party_licenses.ts";

const root = dirname(import.meta.dirname);
/** In `dist/`, but `build_worker.ts` puts it there. */
const worker = "worker";

/**
 * Builds into `dist/` what is published and what `npm start` runs: our code and the packages that it uses as one bundle, in
 * chunks, so that each command loads only its own; the modules that others import; and the page, the migrations and the schemas
 * of what the command line reads and writes. Run as `node tools/build.ts [FOLDER]`. Resolves with esbuild's description of the bundle.
 */
export async function buildPackage(folder: string): Promise<Metafile> {
  const building = `${folder}.${process.pid}.building`;
  try {
    const [program, modules, page] = await Promise.all([
      bundle(building),
      buildModules(building),
      buildPage(join(building, "web")),
      cp(join(root, "drizzle/migrations"), join(building, "migrations"), { recursive: true }),
      ...schemaNames.map((name) => cp(join(root, `shared/${name}.schema.json`), join(building, `${name}.schema.json`))),
    ]);
    await writeFile(
      join(building, "THIRD_PARTY_LICENSES.txt"),
      await thirdPartyLicenses(root, [program, ...modules, page]),
    );
    await replaceFolder(folder, building);
    return program;
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

async function bundle(outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...nodeBundle,
    entryPoints: { scanstream: "command_line/scanstream.ts", start: "command_line/start.ts" },
    outdir,
    chunkNames: "[name]-[hash]",
    splitting: true,
    external: [...nodeBundle.external, "@electric-sql/pglite"],
  });
  return metafile;
}

/**
 * Chunks carry a hash of what is in them, and files are replaced one by one: a gateway that runs from this folder still finds
 * the chunks that it has not loaded yet, unless the code has changed.
 */
async function replaceFolder(folder: string, building: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const entries = await readdir(building, { withFileTypes: true });
  for (const entry of entries) {
    const target = join(folder, entry.name);
    if (entry.isDirectory()) await rm(target, { recursive: true, force: true });
    await rename(join(building, entry.name), target);
  }
  const kept = new Set([...entries.map(({ name }) => name), worker]);
  for (const name of await readdir(folder)) {
    if (!kept.has(name)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

if (import.meta.main) await buildPackage(resolve(process.argv[2] ?? join(root, "dist")));
