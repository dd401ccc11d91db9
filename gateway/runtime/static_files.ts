import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { embeddedFiles } from "../../drizzle/embedded_files.ts";
import type { WebAssets } from "../http/dependencies.ts";
import { hasCode } from "../../shared/error_code.ts";

/** The folder into which `gateway/web/build.ts` puts the live page: next to the bundle of an installed package, in `dist/` of a checkout. */
export function webFolder(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  return basename(here) === "runtime" ? join(here, "../../dist/web") : join(here, "web");
}

/** Files of one folder. No name that leads out of the folder, or to a hidden file, is read. */
export function createStaticFiles(folder: string): WebAssets {
  return createWebAssets(async (path) => {
    try {
      return await readFile(join(folder, path));
    } catch (error) {
      if (hasCode(error, "ENOENT", "EISDIR", "ENOTDIR")) return null;
      throw error;
    }
  });
}

/** The page inside the single executable; null: this is not one. */
export function createEmbeddedFiles(): WebAssets | null {
  const files = embeddedFiles;
  if (files === null) return null;
  const keys = new Set(files.getAssetKeys());
  return createWebAssets((path) =>
    Promise.resolve(keys.has(`web/${path}`) ? new Uint8Array(files.getRawAsset(`web/${path}`)) : null),
  );
}

function createWebAssets(readAsset: (path: string) => Promise<Uint8Array | null>): WebAssets {
  return {
    async read(path) {
      const isPlain = /\.\w+$/.test(path) && path.split("/").every((segment) => /^[\w-][\w.-]*$/.test(segment));
      const content = isPlain ? await readAsset(path) : null;
      return content === null ? null : new Uint8Array(content);
    },
  };
}
