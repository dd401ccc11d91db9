import { readFile } from "node:fs/promises";
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
  const file = (await requestSharedService("pglite")) ?? (await saveMigratedPglite());
  return new Blob([await readFile(file)]);
}

async function empty(pglite: PGlite): Promise<void> {
  for (const sql of ["rollback", "reset session authorization", "discard all"]) await pglite.exec(sql);
  const { rows } = await pglite.query<{ name: string }>(
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  await pglite.exec(`truncate ${rows.map(({ name }) => name).join(", ")} restart identity cascade`);
}
