import { join } from "node:path";

/** The checkout. */
export const root = join(import.meta.dirname, "../..");
/** The published package, built once for the run: it starts in a fifth of the time that the sources take. */
export const builtPackage = join(root, "node_modules/.cache/scanstream/package");
/** For Node: optimizing code takes longer than a test runs it, that of PGlite most of all. */
export const unoptimized = ["--liftoff-only", "--no-turbofan", "--no-maglev"];
/** Folder from which the gateway on Deno and on Workers reads the page. */
export const denoPage = join(root, "dist/web");
