import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
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
  return {
    async read(path) {
      const contentType = contentTypes[extname(path)];
      const isPlain = path.split("/").every((segment) => /^[\w-][\w.-]*$/.test(segment));
      if (contentType === undefined || !isPlain) return null;
      try {
        return { body: new Uint8Array(await readFile(join(folder, path))), contentType };
      } catch (error) {
        if (hasCode(error, "ENOENT", "EISDIR", "ENOTDIR")) return null;
        throw error;
      }
    },
  };
}
