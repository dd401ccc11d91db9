import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { build, type BuildOptions, type Metafile } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { nodeBundle } from "./node_bundle.ts";
import { writePublishedTypes } from "./published_types.ts";

const run = promisify(execFile);
const root = dirname(import.meta.dirname);

/** Exports of `package.json` from `shared/`, by name; each file is one bundle that imports nothing. */
const modules = { subscribe: "client/subscribe", events: "events", report: "report" };
/** Its exports of the gateway: each file of `gateway/library/` has a subpath. */
const library = ["gateway", "deno", "postgres", "pglite", "neon", "redis", "upstash", "memory", "testing", "contract"];
/** The same for a Worker, where nothing of Node may be in a bundle. */
const workerLibrary = ["portable", "worker", "neon", "upstash"];

/**
 * Builds into `folder` what `package.json` exports: `modules/`, the gateway as `gateway_*.js` next to its migrations and without the
 * peer dependencies, `worker_library/`, and their types. Resolves with esbuild's description of the bundles.
 */
export async function buildModules(folder: string): Promise<readonly Metafile[]> {
  const peers = Object.keys(packageJson.peerDependencies);
  const portable = {
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    alias: nodeBundle.alias,
    target: "es2022",
    logLevel: "warning",
    metafile: true,
  } as const satisfies BuildOptions;
  const entries = (names: readonly string[]) => names.map((name) => `gateway/library/${name}.ts`);
  const [own, gateway, worker] = await Promise.all([
    build({
      ...portable,
      entryPoints: Object.fromEntries(Object.entries(modules).map(([name, file]) => [name, `shared/${file}.ts`])),
      outdir: join(folder, "modules"),
    }),
    build({
      ...nodeBundle,
      entryPoints: entries(library),
      entryNames: "gateway_[name]",
      chunkNames: "[name]-[hash]",
      outdir: folder,
      splitting: true,
      external: [...nodeBundle.external, ...peers],
    }),
    build({
      ...portable,
      target: "es2024",
      entryPoints: entries(workerLibrary),
      outdir: join(folder, "worker_library"),
      splitting: true,
      external: peers,
    }),
    buildTypes(join(folder, "types")),
  ]);
  return [own.metafile, gateway.metafile, worker.metafile];
}

/** The declarations of the modules and of what they name, without a type of a package that is no peer dependency. */
async function buildTypes(folder: string): Promise<void> {
  const emitted = await mkdtemp(join(tmpdir(), "scanstream-types-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [compiler, "-p", join(root, "tools/tsconfig.published.json"), "--outDir", emitted]);
    const schemas = Object.entries(writePublishedTypes());
    for (const [name, text] of schemas) await writeFile(join(emitted, "shared/schemas", name), text);
    const ofLibrary = (await readdir(join(root, "gateway/library"))).filter((name) =>
      [...library, ...workerLibrary].includes(basename(name, ".ts")),
    );
    await copyDeclarations(emitted, folder, [
      ...Object.values(modules).map((file) => `shared/${file}.d.ts`),
      ...ofLibrary.filter((name) => name !== "deno.ts").map((name) => `gateway/library/${name.replace(/ts$/, "d.ts")}`),
    ]);
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
    const text = (await readFile(join(from, file), "utf8")).replaceAll(
      /(\b(?:from |import\()"\.[^"]*)\.ts"/g,
      '$1.js"',
    );
    await mkdir(dirname(join(to, file)), { recursive: true });
    await writeFile(join(to, file), text);
    const imports = [...text.matchAll(/\b(?:from |import\()"([^"]+)"/g)].map(([, path = ""]) => path);
    for (const path of imports) {
      const peer = file.startsWith("shared/") ? undefined : /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
      if (peer !== undefined && peer in packageJson.peerDependencies) continue;
      if (!path.startsWith(".")) throw new Error(`Cannot publish the types of ${file}: they name the package ${path}`);
      const imported = join(from, dirname(file), path.replace(/\.js$/, ".d.ts"));
      waiting.push(relative(from, imported));
    }
  }
}
