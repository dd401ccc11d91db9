import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getTableColumns, getTableName, sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { UsageError } from "../shared/usage_error.ts";
import type { Database } from "./database.ts";
import type { FeatureTables } from "./feature_tables.ts";
import { unwrapDatabaseError } from "./database_error.ts";
import { migrationConfig, withMigrations } from "./embedded_files.ts";
import { noTenant, read, type TenantDatabase } from "./transactions.ts";

/**
 * Applies the migrations of this folder and those of each feature, each with its own journal, and gives its tables FORCE and the grants that drizzle-kit does
 * not write, as the role that owns the tables. Rejects with `UsageError` for a folder of two features, a migration that cannot be
 * applied or was changed afterwards, every table and index that is missing, and every table without `tenantPolicy`; nobody may use
 * its rows then.
 */
export async function migrateAll(
  db: Pick<TenantDatabase, "execute">,
  applyMigrations: (config: typeof migrationConfig) => Promise<void>,
  features: readonly FeatureTables[] = [],
): Promise<void> {
  const own = features.flatMap(({ prefix, migrations }) =>
    migrations === undefined ? [] : [{ prefix, folder: String(migrations()) }],
  );
  for (const [folder, [one, other]] of Map.groupBy(own, (each) => each.folder)) {
    if (other === undefined) continue;
    const problem = `the features "${one?.prefix}" and "${other.prefix}" have the same folder, ${folder}: expected one for each`;
    throw new UsageError([problem], { heading: "Cannot use the migrations" });
  }
  await withMigrations(apply);
  for (const { prefix, folder } of own) {
    const migrationsTable = `migrations_${prefix.replaceAll("-", "_")}`;
    try {
      await apply({ ...migrationConfig, migrationsFolder: fileURLToPath(folder), migrationsTable });
    } catch (cause) {
      const error = unwrapDatabaseError(cause);
      const reason = error instanceof Error ? error.message : String(error);
      const problem = `the migrations of the feature "${prefix}" in ${folder}: ${reason}`;
      throw new UsageError([problem], { heading: "Cannot apply", cause });
    }
  }
  const states = await requireTables(db, features, (state) => state.is_protected);
  for (const table of features.flatMap(({ tables = [] }) => tables)) {
    const isForced = states.some((state) => state.name === getTableName(table) && state.is_forced);
    // It waits for everybody who reads the table, and everybody else behind it.
    if (!isForced) await db.execute(sql`alter table ${table} force row level security`);
    await db.execute(sql`revoke all on ${table} from public`);
    await db.execute(sql`grant select, insert, update, delete on ${table} to scanstream_app, scanstream_admin`);
    // A serial column takes its default from a sequence, which the table's rights leave out.
    const { rows: sequences } = await db.execute<Pick<TableState, "name">>(sql`
      select objid::regclass::text as name from pg_depend join pg_class on pg_class.oid = objid
      where relkind = 'S' and refobjid = ${`"${getTableName(table)}"`}::regclass`);
    for (const { name } of sequences)
      await db.execute(sql`grant usage on sequence ${sql.raw(name)} to scanstream_app, scanstream_admin`);
  }

  async function apply(config: typeof migrationConfig): Promise<void> {
    await applyMigrations(config);
    await requireApplied(db, config);
  }
}

/** Drizzle applies the files that are newer than the last one it applied, and looks at no other. Rejects with `UsageError` that names these. */
async function requireApplied(db: Pick<TenantDatabase, "execute">, config: typeof migrationConfig): Promise<void> {
  const { migrationsFolder, migrationsSchema, migrationsTable } = config;
  const journal = await readFile(join(migrationsFolder, "meta/_journal.json"), "utf8");
  const { entries }: { readonly entries: readonly { readonly tag: string }[] } = JSON.parse(journal);
  const table = sql`${sql.identifier(migrationsSchema)}.${sql.identifier(migrationsTable)}`;
  const { rows } = await db.execute<{ time: string; hash: string }>(sql`select created_at as time, hash from ${table}`);
  const hashes = new Map(rows.map(({ time, hash }) => [Number(time), hash]));
  const problems = readMigrationFiles(config).flatMap(({ folderMillis, hash }, index) => {
    const applied = hashes.get(folderMillis);
    if (applied === hash) return [];
    const problem =
      applied === undefined
        ? "is older than the last one that was applied, and was passed over: generate it anew"
        : "was changed after it was applied: restore it and put the change into a new migration, or use an empty database";
    return [`${join(migrationsFolder, String(entries[index]?.tag))}.sql ${problem}`];
  });
  if (problems.length > 0) throw new UsageError(problems);
}

/** Rejects with `UsageError` that names every table and index which `migrateAll` has not made or not protected. */
export async function requireFeatureTables(database: Database, features: readonly FeatureTables[]): Promise<void> {
  await read(database, noTenant, (db) => requireTables(db, features, (state) => state.is_protected && state.is_forced));
}

type TableState = {
  readonly name: string;
  readonly is_protected: boolean;
  readonly is_forced: boolean;
  readonly columns: readonly string[];
};

async function requireTables(
  db: Pick<TenantDatabase, "execute">,
  features: readonly FeatureTables[],
  isReady: (state: TableState) => boolean,
): Promise<readonly TableState[]> {
  const wanted = features.flatMap(({ prefix, tables = [], tasks = [] }) => [
    ...tables.map((table) => {
      const columns = Object.values(getTableColumns(table)).map(({ name }) => name);
      return { prefix, name: getTableName(table), what: "table", columns };
    }),
    ...tasks.map(({ due }) => ({ prefix, name: due, what: "index", columns: [] })),
  ]);
  if (wanted.length === 0) return [];
  const { rows: states } = await db.execute<TableState>(sql`
    select relname as name, relforcerowsecurity or relkind = 'i' as is_forced, relkind = 'i' or relrowsecurity and exists (
      select from pg_policy where polrelid = pg_class.oid and polname = relname || '_of_tenant') and exists (
      select from pg_attribute where attrelid = pg_class.oid and attname = 'tenant_id') as is_protected,
      array(select attname::text from pg_attribute where attrelid = pg_class.oid and not attisdropped) as columns
    from pg_class where relnamespace = 'public'::regnamespace and relname in ${wanted.map(({ name }) => name)}`);
  const problems = wanted.flatMap(({ prefix, name, what, columns }) => {
    const state = states.find((each) => each.name === name);
    const missing = state === undefined ? undefined : columns.find((column) => !state.columns.includes(column));
    if (state !== undefined && isReady(state) && missing === undefined) return [];
    const lacks = missing === undefined ? "is not migrated" : `lacks the column "${missing}"`;
    const problem =
      state?.is_protected === false
        ? `has no tenantPolicy for a column tenant_id: add tenantPolicy("${name}", table.tenantId) to it, and generate a migration`
        : `${lacks}: generate its migration with drizzle-kit, then run migrate({ database, features })`;
    return [`the ${what} "${name}" of the feature "${prefix}" ${problem}`];
  });
  if (problems.length > 0) throw new UsageError(problems, { heading: "Cannot use the features" });
  return states;
}
