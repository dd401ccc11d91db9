import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { getAssetAsBlob, getAssetKeys, getRawAsset, isSea } from "node:sea";
import type { PGliteOptions } from "@electric-sql/pglite";
import { migrationConfig } from "./migrations_folder.ts";

/**
 * The single executable (`tools/build_executable.ts`) holds what an installed package has as files. Everywhere else these
 * functions change nothing.
 */

/** Drizzle reads migrations from a folder: the executable writes them to one that only this user can read, for as long as `use` takes. */
export async function withMigrations<T>(use: (config: typeof migrationConfig) => Promise<T>): Promise<T> {
  if (!isSea()) return use(migrationConfig);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-migrations-"));
  try {
    for (const key of getAssetKeys().filter((name) => name.startsWith("migrations/"))) {
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), new Uint8Array(getRawAsset(key)));
    }
    return await use({ ...migrationConfig, migrationsFolder: join(folder, "migrations") });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What PGlite otherwise reads from its package. */
export async function embeddedPostgres(): Promise<Pick<
  PGliteOptions,
  "pgliteWasmModule" | "initdbWasmModule" | "fsBundle"
> | null> {
  if (!isSea()) return null;
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all(
    ["pglite.wasm", "initdb.wasm"].map((name) => WebAssembly.compile(getRawAsset(`pglite/${name}`))),
  );
  if (pgliteWasmModule === undefined || initdbWasmModule === undefined) return null;
  return { pgliteWasmModule, initdbWasmModule, fsBundle: getAssetAsBlob("pglite/pglite.data") };
}
