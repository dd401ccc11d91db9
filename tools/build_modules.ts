import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { build, type Metafile } from "esbuild";
import { writePublishedTypes } from "./published_types.ts";

const run = promisify(execFile);
const root = dirname(import.meta.dirname);

/** What `package.json` exports, by name; each file of `shared/` is one bundle that imports nothing. */
const modules = { subscribe: "client/subscribe", events: "events", report: "report" };

/** Builds the modules and their types into `folder`. Resolves with esbuild's description of the bundles. */
export async function buildModules(folder: string): Promise<Metafile> {
  const [{ metafile }] = await Promise.all([
    build({
      absWorkingDir: root,
      entryPoints: Object.fromEntries(Object.entries(modules).map(([name, file]) => [name, `shared/${file}.ts`])),
      outdir: folder,
      bundle: true,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      target: "es2022",
      logLevel: "warning",
      metafile: true,
    }),
    buildTypes(join(folder, "types")),
  ]);
  return metafile;
}

/** The declarations of the modules and of what they name, without a type of another package. */
async function buildTypes(folder: string): Promise<void> {
  const emitted = await mkdtemp(join(tmpdir(), "scanstream-types-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [compiler, "-p", join(root, "shared/tsconfig.published.json"), "--outDir", emitted]);
    const schemas = Object.entries(writePublishedTypes()).map(([name, text]) => [join("schemas", name), text] as const);
    for (const [name, text] of schemas) await writeFile(join(emitted, name), text);
    await copyDeclarations(
      emitted,
      folder,
      Object.values(modules).map((file) => `${file}.d.ts`),
    );
  } finally {
    await rm(emitted, { recursive: true, force: true });
  }
}

/** These files and their imports. */
async function copyDeclarations(from: string, to: string, files: readonly string[]): Promise<void> {
  const waiting = [...files];
  const copied = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (copied.has(file)) continue;
    copied.add(file);
    // The compiler leaves the names of source files in declarations.
    const text = (await readFile(join(from, file), "utf8")).replaceAll(/(\bfrom "\.[^"]*)\.ts"/g, '$1.js"');
    await mkdir(dirname(join(to, file)), { recursive: true });
    await writeFile(join(to, file), text);
    const imports = [...text.matchAll(/\b(?:from |import\()"([^"]+)"/g)].map(([, path = ""]) => path);
    for (const path of imports) {
      if (!path.startsWith(".")) throw new Error(`Cannot publish the types of ${file}: they name the package ${path}`);
      const imported = join(from, dirname(file), path.replace(/\.js$/, ".d.ts"));
      waiting.push(relative(from, imported));
    }
  }
}
