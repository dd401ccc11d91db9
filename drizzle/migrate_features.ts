import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import { UsageError } from "../shared/usage_error.ts";
import type { Database } from "./database.ts";
import type { FeatureTables } from "./feature_tables.ts";
import { driverErrorOf } from "./database_error.ts";
import { migrationConfig, withMigrations } from "./embedded_files.ts";
import { literal } from "./transact.ts";
import { noTenant, readOne } from "./transactions.ts";

/** A connection of the role that owns the tables. */
interface OwnerConnection {
  readonly applyMigrations: (config: typeof migrationConfig) => Promise<void>;
  readonly query: (statement: string) => Promise<{ readonly rows: readonly object[] }>;
}

/**
 * Applies the migrations of this folder and those of each feature, each with its own journal, and gives its tables FORCE and the grants that drizzle-kit does
 * not write. Rejects with `UsageError` that names every table and index which is missing, and every table without `tenantPolicy`; nobody
 * may use its rows then.
 */
export async function migrateAll(
  { applyMigrations, query }: OwnerConnection,
  features: readonly FeatureTables[],
): Promise<void> {
  await withMigrations(applyMigrations);
  for (const { prefix, migrations } of features) {
    if (migrations === undefined) continue;
    const migrationsTable = `migrations_${prefix.replaceAll("-", "_")}`;
    const migrationsFolder = fileURLToPath(migrations());
    await applyMigrations({ ...migrationConfig, migrationsFolder, migrationsTable }).catch((cause: unknown) => {
      const error = driverErrorOf(cause);
      const reason = error instanceof Error ? error.message : String(error);
      const problem = `the migrations of the feature "${prefix}" in ${migrationsFolder}: ${reason}`;
      throw new UsageError([problem], { heading: "Cannot apply", cause });
    });
  }
  const states = (statement: string) => query(statement).then(({ rows }) => rows as readonly TableState[]);
  await requireTables(features, states, (state) => state.is_protected);
  for (const name of tablesOf(features).map((table) => `"public"."${table.name}"`)) {
    await query(`alter table ${name} force row level security`);
    await query(`revoke all on ${name} from public`);
    await query(`grant select, insert, update, delete on ${name} to scanstream_app, scanstream_admin`);
    // A serial column takes its default from a sequence, which the table's rights leave out.
    const { rows } =
      await query(`select objid::regclass::text as name from pg_depend join pg_class on pg_class.oid = objid
      where relkind = 'S' and refobjid = ${literal(name)}::regclass`);
    for (const { name: sequence } of rows as readonly TableState[]) {
      await query(`grant usage on sequence ${sequence} to scanstream_app, scanstream_admin`);
    }
  }
}

/** Rejects with `UsageError` that names every table and index which `migrateAll` has not made or not protected. */
export async function requireFeatureTables(database: Database, features: readonly FeatureTables[]): Promise<void> {
  const states = async (statement: string) =>
    (await readOne(database, noTenant, (db) => db.execute<TableState>(sql.raw(statement)))).rows;
  await requireTables(features, states, (state) => state.is_protected && state.is_forced);
}

type TableState = { readonly name: string; readonly is_protected: boolean; readonly is_forced: boolean };

async function requireTables(
  features: readonly FeatureTables[],
  query: (statement: string) => Promise<readonly TableState[]>,
  isReady: (state: TableState) => boolean,
): Promise<void> {
  const dues = features.flatMap(({ prefix, tasks = [] }) =>
    tasks.map(({ due }) => ({ prefix, name: due, what: "index" })),
  );
  const wanted = [...tablesOf(features), ...dues];
  if (wanted.length === 0) return;
  const states = await query(`
    select relname as name, relforcerowsecurity or relkind = 'i' as is_forced, relkind = 'i' or relrowsecurity and exists (
      select from pg_policy where polrelid = pg_class.oid and polname = relname || '_of_tenant') as is_protected
    from pg_class where relnamespace = 'public'::regnamespace and relname in (${wanted.map(({ name }) => literal(name)).join(", ")})`);
  const problems = wanted.flatMap(({ prefix, name, what }) => {
    const state = states.find((each) => each.name === name);
    if (state !== undefined && isReady(state)) return [];
    const problem =
      state?.is_protected === false
        ? `has no tenantPolicy: add tenantPolicy("${name}", table.tenantId) to it, and generate a migration`
        : "is not migrated: generate its migration with drizzle-kit, then run migrate({ database, features })";
    return [`the ${what} "${name}" of the feature "${prefix}" ${problem}`];
  });
  if (problems.length > 0) throw new UsageError(problems, { heading: "Cannot use the features" });
}

function tablesOf(features: readonly FeatureTables[]) {
  return features.flatMap(({ prefix, tables = [] }) =>
    tables.map((table) => ({ prefix, name: getTableConfig(table).name, what: "table" })),
  );
}
