import { cp, readdir, rm } from "node:fs/promises";
import { build } from "esbuild";

/**
 * Bundles the command line into `dist/`, because Node does not strip types under `node_modules`. Our own code is bundled;
 * packages stay dependencies, so that npm installs, audits and updates them.
 */
const root = import.meta.dirname;

// The page in dist/web is its own build's; everything else is made anew.
for (const name of await readdir(`${root}/dist`).catch(() => [])) {
  if (name !== "web") await rm(`${root}/dist/${name}`, { recursive: true, force: true });
}
await build({
  absWorkingDir: root,
  entryPoints: { scanstream: "scanstream.ts" },
  outdir: "dist",
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
await cp(`${root}/drizzle/migrations`, `${root}/dist/migrations`, { recursive: true });
await cp(`${root}/shared/report.schema.json`, `${root}/dist/report.schema.json`);
