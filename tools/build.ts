import { cp, readdir, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { build } from "esbuild";

/**
 * Bundles the command line into `dist/`, or the directory that is its argument, because Node does not strip types under `node_modules`. Our own code is bundled;
 * packages stay dependencies, so that npm installs, audits and updates them.
 */
const root = dirname(import.meta.dirname);
const outdir = resolve(process.argv[2] ?? `${root}/dist`);

// The page in dist/web is its own build's; everything else is made anew.
for (const name of await readdir(outdir).catch(() => [])) {
  if (name !== "web") await rm(`${outdir}/${name}`, { recursive: true, force: true });
}
await build({
  absWorkingDir: root,
  entryPoints: { scanstream: "scanstream.ts" },
  outdir,
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22",
  packages: "external",
  sourcemap: "linked",
  logLevel: "warning",
});
await cp(`${root}/drizzle/migrations`, `${outdir}/migrations`, { recursive: true });
await cp(`${root}/shared/report.schema.json`, `${outdir}/report.schema.json`);
