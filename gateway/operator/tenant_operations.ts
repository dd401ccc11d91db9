import * as v from "valibot";
import type { Database } from "../../drizzle/database.ts";
import { read, write, type Caller } from "../../drizzle/transactions.ts";
import { AppError } from "../../shared/app_error.ts";
import type { ExportHeader } from "../../shared/schemas/tenant.ts";
import { deleteInBatches } from "../features/delete_in_batches.ts";
import { readExportPage, type ExportPage } from "../features/tenant/export_tenant.ts";
import { requireExportedTable } from "../features/tenant/exported_tables.ts";
import { deleteTenantStep, renameTenant, selectTenant } from "../features/tenant/tenant_store.ts";

export async function renameTenantAs(database: Database, tenantId: string, name: string): Promise<unknown> {
  return write(database, operatorOf(tenantId), async (db) => {
    await renameTenant(db, name);
    const { id, name: stored } = await selectTenant(db);
    return { id, name: stored };
  });
}

export async function deleteTenantAs(database: Database, tenantId: string, confirmed: unknown): Promise<unknown> {
  await deleteInBatches(() =>
    write(database, operatorOf(tenantId), async (db) => {
      const { name } = await selectTenant(db);
      if (name === confirmed) return deleteTenantStep(db, name);
      throw new AppError("invalid", `--confirm is not valid: expected the tenant's name, ${JSON.stringify(name)}`);
    }),
  );
  return { id: tenantId, name: confirmed, deleted: true };
}

export async function exportHeader(database: Database, tenantId: string, nowMs: number): Promise<ExportHeader> {
  const { id, name } = await read(database, { tenantId }, (db) => selectTenant(db));
  return { schema: "scanstream.export/1", tenant_id: id, name, exported_at: new Date(nowMs).toISOString() };
}

export async function exportPage(
  database: Database,
  tenantId: string,
  { table, after }: { readonly table: unknown; readonly after: unknown },
): Promise<ExportPage> {
  const exported = requireExportedTable(table);
  const key = v.is(v.array(v.string()), after) ? after : null;
  return read(database, { tenantId }, (db) => readExportPage(db, exported, key));
}
/** With the rights of the application, bound to the one tenant. */
function operatorOf(tenantId: string): Caller {
  return { tenantId, actor: "operator:" };
}
