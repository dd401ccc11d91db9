import { join } from "node:path";

/** The checkout. */
export const root = join(import.meta.dirname, "../..");
/** The published package, built once for the run: it starts in a fifth of the time that the sources take. */
export const builtPackage = join(root, "node_modules/.cache/scanstream/package");
/** Folder from which the gateway on Deno and on Workers reads the page. */
export const denoPage = join(root, "dist/web");
