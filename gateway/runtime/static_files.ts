import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { embeddedFiles } from "../../drizzle/embedded_files.ts";
import type { WebAssets } from "../http/dependencies.ts";
import { hasCode } from "../../shared/error_code.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".map": "application/json",
  ".txt": "text/plain; charset=utf-8",
};

/** Files of one folder, of known kinds only. No name that leads out of the folder, or to a hidden file, is read. */
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
      const contentType = contentTypes[extname(path)];
      const isPlain = path.split("/").every((segment) => /^[\w-][\w.-]*$/.test(segment));
      if (contentType === undefined || !isPlain) return null;
      const content = await readAsset(path);
      return content === null ? null : { body: new Uint8Array(content), contentType };
    },
  };
}
