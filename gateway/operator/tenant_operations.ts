import { getTableName, sql } from "drizzle-orm";
import * as v from "valibot";
import type { Database } from "../../drizzle/database.ts";
import { asOwner, withTenant } from "../../drizzle/with_tenant.ts";
import { AppError } from "../../shared/app_error.ts";
import { exportHeaderSchema, type ExportHeader } from "../../shared/schemas/tenant.ts";
import { readExportPage, type ExportPage } from "../features/tenant/export_tenant.ts";
import { exportedColumns, requireExportedTable } from "../features/tenant/exported_tables.ts";
import { deleteTenantStep, renameTenant, selectTenant } from "../features/tenant/tenant_store.ts";
import { maxReportBytes } from "../features/scans/report/read_report.ts";
import { parseName } from "./arguments.ts";

/** Every one but the first step of an import runs with the rights of the application, bound to the one tenant. */
const asOperator = { actor: "operator:" };

export async function renameTenantAs(database: Database, tenantId: string, name: string): Promise<unknown> {
  return withTenant(
    database,
    tenantId,
    async (db) => {
      await renameTenant(db, name);
      const { id, name: stored } = await selectTenant(db);
      return { id, name: stored };
    },
    asOperator,
  );
}

/** One step; the command repeats it until the tenant is gone. */
export async function deleteTenantAs(
  database: Database,
  tenantId: string,
  { name, maxRows }: { readonly name: string; readonly maxRows: number },
): Promise<{ readonly isGone: boolean }> {
  return withTenant(
    database,
    tenantId,
    async (db) => {
      const tenant = await selectTenant(db);
      if (tenant.name === name) return { isGone: await deleteTenantStep(db, name, maxRows) };
      throw new AppError(
        "invalid",
        `--confirm is not valid: expected the tenant's name, ${JSON.stringify(tenant.name)}`,
      );
    },
    asOperator,
  );
}

export async function exportHeader(database: Database, tenantId: string, nowMs: number): Promise<ExportHeader> {
  const { id, name } = await withTenant(database, tenantId, (db) => selectTenant(db));
  return { schema: "scanstream.export/1", tenant_id: id, name, exported_at: new Date(nowMs).toISOString() };
}

export async function exportPage(
  database: Database,
  tenantId: string,
  { table, after }: { readonly table: unknown; readonly after: unknown },
): Promise<ExportPage> {
  const exported = requireExportedTable(table);
  const key = v.is(v.array(v.string()), after) ? after : null;
  return withTenant(database, tenantId, (db) => readExportPage(db, exported, key));
}

/**
 * The tenant under its own id. Resolves with the name that it has then. Rejects with `AppError("invalid")` for a name that none may
 * have, and for a tenant that is there already unless that is meant: the file's members would become members of it.
 */
export async function importTenant(
  database: Database,
  { header, isIntoExisting }: { readonly header: unknown; readonly isIntoExisting: boolean },
): Promise<{ readonly name: string }> {
  const { tenant_id: id, ...named } = v.parse(exportHeaderSchema, header);
  const name = parseName(named);
  const created = await asOwner(database, (db) =>
    db.execute(
      sql`insert into tenants (id, name) values (${id}::uuid, ${name}) on conflict do nothing returning 1 as one`,
    ),
  );
  if (created.length === 0 && !isIntoExisting) {
    throw new AppError(
      "invalid",
      `The tenant ${id} exists already, so nothing was imported. --into-existing adds the file's members and data to it`,
    );
  }
  const stored = await withTenant(database, id, (db) => selectTenant(db));
  return { name: stored.name };
}

/**
 * Rows of one table, as `exportTenant` wrote them. The ones that are there stay as they are; the ones that belong to nothing, or whose
 * scan was deleted here, are left out. Returns how many were new, and the keys of the ones that cannot be stored because another tenant
 * has a row under them.
 */
export async function importRows(
  database: Database,
  tenantId: string,
  { table: name, rows }: { readonly table: unknown; readonly rows: unknown },
): Promise<{ readonly created: number; readonly foreign: readonly string[] }> {
  const exported = requireExportedTable(name);
  const { table, parent, key, isShownOnly } = exported;
  if (!v.is(v.array(v.looseObject({ tenant_id: v.literal(tenantId) })), rows)) {
    throw new AppError("invalid", `Rows of ${JSON.stringify(name)} are not valid: expected those of one tenant`);
  }
  if (rows.some((row) => Number(row["size_bytes"] ?? 0) > maxReportBytes)) {
    throw new AppError("invalid", `Rows of ${JSON.stringify(name)} are not valid: expected reports of 32 MiB at most`);
  }
  const [first] = rows;
  if (first === undefined || isShownOnly === true) return { created: 0, foreign: [] };
  // For another version the file may have more columns or fewer.
  const columns = sql.join(
    exportedColumns(exported)
      .filter((column) => column in first)
      .map((column) => sql.identifier(column)),
    sql`, `,
  );
  const isThere =
    parent === undefined
      ? sql`true`
      : sql`exists (select from ${parent.table} where ${sql.join(
          parent.columns.map(([own, theirs]) => sql`${theirs} = given.${sql.identifier(own.name)}`),
          sql` and `,
        )})`;
  const isDeleted =
    getTableName(table) === "scans"
      ? sql`exists (select from deleted_scans where deleted_scans.id = given.id)`
      : sql`false`;
  const json = JSON.stringify(rows);
  const isOwn = sql.join(
    key.map((column) => sql`${column} = given.${sql.identifier(column.name)}`),
    sql` and `,
  );
  const shownKey = sql.join(
    key.map((column) => sql`given.${sql.identifier(column.name)}`),
    sql`, `,
  );
  return withTenant(
    database,
    tenantId,
    async (db) => {
      if (getTableName(table) === "memberships") {
        await db.execute(sql`
          select scanstream.register_user(given.user_id) from jsonb_to_recordset(${json}::jsonb) as given (user_id text)`);
      }
      const created = await db.execute(sql`
        insert into ${table} (${columns})
        select ${columns} from jsonb_populate_recordset(null::${table}, ${json}::jsonb) as given
        where ${isThere} and not ${isDeleted}
        on conflict do nothing returning 1 as created`);
      if (created.length === rows.length) return { created: created.length, foreign: [] };
      // What is neither new nor seen under row-level security is another tenant's.
      const foreign = await db.execute<{ key: string }>(sql`
        select concat_ws(' ', ${shownKey}) as key
        from jsonb_populate_recordset(null::${table}, ${json}::jsonb) as given
        where ${isThere} and not ${isDeleted} and not exists (select from ${table} where ${isOwn}) limit 20`);
      return { created: created.length, foreign: foreign.map((row) => row.key) };
    },
    asOperator,
  );
}
