import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { createPgliteDatabase, pgliteParsers } from "../../drizzle/databases/pglite.ts";
import type { Database } from "../../drizzle/database.ts";
import { watchedQueries } from "./watched_database.ts";
import { migrationConfig } from "../../drizzle/embedded_files.ts";

/** Databases that earlier tests of this process have closed, emptied. Opening one costs half a second of CPU time. */
const kept: PGlite[] = [];
const maxKept = 2;

/** The embedded database in memory, migrated and empty. A test that changes more than rows opens one of its own. */
export async function openTestPglite(): Promise<Database> {
  const pglite = kept.pop() ?? (await createPglite());
  const onClosed = async () => {
    if (kept.length === maxKept) return pglite.close();
    await empty(pglite);
    kept.push(pglite);
  };
  return createPgliteDatabase(pglite, drizzle, { onClosed, logger: watchedQueries });
}

async function createPglite(): Promise<PGlite> {
  return PGlite.create({ dataDir: "memory://", loadDataDir: await readDump(), parsers: pgliteParsers });
}

async function empty(pglite: PGlite): Promise<void> {
  for (const sql of ["rollback", "reset session authorization", "discard all"]) await pglite.exec(sql);
  const { rows } = await pglite.query<{ name: string }>(
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  await pglite.exec(`truncate ${rows.map(({ name }) => name).join(", ")} restart identity cascade`);
}

const cacheFolder = fileURLToPath(new URL("../../node_modules/.cache/scanstream/", import.meta.url));

async function readDump(): Promise<Blob> {
  const file = join(cacheFolder, `pglite-${await fingerprint()}.tar`);
  try {
    return new Blob([await readFile(file)], { type: "application/x-tar" });
  } catch {
    const dump = await createDump();
    await mkdir(cacheFolder, { recursive: true });
    // Whole or not at all: another caller may read, or write the same, at this moment.
    const own = `${file}.${crypto.randomUUID()}`;
    await writeFile(own, dump.stream());
    await rename(own, file);
    return dump;
  }
}

async function createDump(): Promise<Blob> {
  const pglite = await PGlite.create("memory://");
  await migrate(drizzle(pglite), migrationConfig);
  const dump = await pglite.dumpDataDir("none");
  await pglite.close();
  return dump;
}

/** Another version of PGlite or of the migrations needs another dump. */
async function fingerprint(): Promise<string> {
  const folder = migrationConfig.migrationsFolder;
  const sql = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  // The journal has the times by which Drizzle knows what was applied.
  const names = [...sql, "meta/_journal.json"];
  const hash = createHash("sha256").update(await pgliteVersion());
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

async function pgliteVersion(): Promise<string> {
  const main = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  return await readFile(join(main, "..", "..", "package.json"), "utf8");
}
