import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const sea = process.getBuiltinModule("node:sea");

/**
 * The files of an installed package, inside the single executable (`tools/build_executable.ts`): `web/…`, `migrations/…`,
 * `pglite/…`. Null everywhere else; Deno has no such module.
 */
export const embeddedFiles = sea?.isSea() ? sea : null;

/** Options of Drizzle's migrators; the same for every driver, so that each finds what another applied. */
export const migrationConfig = {
  migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)),
  migrationsSchema: "scanstream",
  migrationsTable: "migrations",
};

/** Drizzle reads migrations from a folder: the executable writes them to one that only this user can read, for as long as `use` takes. */
export async function withMigrations<T>(use: (config: typeof migrationConfig) => Promise<T>): Promise<T> {
  if (embeddedFiles === null) return use(migrationConfig);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-migrations-"));
  try {
    for (const key of embeddedFiles.getAssetKeys().filter((name) => name.startsWith("migrations/"))) {
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), new Uint8Array(embeddedFiles.getRawAsset(key)));
    }
    return await use({ ...migrationConfig, migrationsFolder: join(folder, "migrations") });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Files that PGlite otherwise reads from its package. */
export async function embeddedPostgres() {
  if (embeddedFiles === null) return null;
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    WebAssembly.compile(embeddedFiles.getRawAsset("pglite/pglite.wasm")),
    WebAssembly.compile(embeddedFiles.getRawAsset("pglite/initdb.wasm")),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: embeddedFiles.getAssetAsBlob("pglite/pglite.data") };
}
