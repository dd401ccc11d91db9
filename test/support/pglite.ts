import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { createPgliteDatabase, pgliteTypes } from "../../drizzle/databases/pglite.ts";
import type { Database } from "../../drizzle/database.ts";
import { saveMigratedPglite } from "./pglite_dump.ts";
import { requestSharedService } from "./shared_services.ts";
import { watchedQueries } from "./watched_database.ts";

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

/** A new one is loaded from it: making one takes several times as long. */
let migrated: Promise<Blob> | undefined;

async function createPglite(): Promise<PGlite> {
  migrated ??= loadMigrated();
  return PGlite.create({ dataDir: "memory://", loadDataDir: await migrated, ...pgliteTypes });
}

async function loadMigrated(): Promise<Blob> {
  return new Blob([await readFile(await migratedFile())]);
}

async function migratedFile(): Promise<string> {
  return (await requestSharedService("pglite")) ?? saveMigratedPglite();
}

/** Puts an embedded database where a gateway will start in this folder: to make one takes several times the CPU time of a start. */
export async function placeEmbeddedDatabase(cwd: string): Promise<void> {
  const database = join(cwd, ".scanstream/database");
  await mkdir(database, { recursive: true, mode: 0o700 });
  await promisify(execFile)("tar", ["-xf", await migratedFile(), "-C", database, "--no-same-owner"]);
}

async function empty(pglite: PGlite): Promise<void> {
  for (const sql of ["rollback", "reset session authorization", "discard all"]) await pglite.exec(sql);
  const { rows } = await pglite.query<{ name: string }>(
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  await pglite.exec(`truncate ${rows.map(({ name }) => name).join(", ")} restart identity cascade`);
}
