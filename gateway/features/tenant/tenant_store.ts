import { eq, sql } from "drizzle-orm";
import { tenants } from "../../../drizzle/schema.ts";
import { audit } from "../../../drizzle/audit.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import type { Tenant } from "../../../shared/schemas/team.ts";
import { invalidField } from "../../http/problem.ts";
import { maxDeletedRows } from "../stored_rows.ts";

/** The transaction's tenant. */

export async function selectTenant(db: TenantDatabase): Promise<Omit<Tenant, "retention_days">> {
  const { id, name, createdAt } = tenants;
  const [row] = await db.select({ id, name, createdAt }).from(tenants);
  if (row === undefined) throw new NotFound("The tenant was deleted");
  return { id: row.id, name: row.name, created_at: row.createdAt.toISOString() };
}

/** Rejects with `NotFound`. */
export async function renameTenant(
  db: TenantDatabase,
  name: string,
): Promise<Awaited<ReturnType<typeof selectTenant>>> {
  const [before] = await db.select({ id: tenants.id, name: tenants.name }).from(tenants).for("update");
  if (before !== undefined && before.name !== name) {
    const { id: tenantId } = before;
    await db.update(tenants).set({ name }).where(eq(tenants.id, tenantId));
    const detail = { name: { from: before.name, to: name } };
    await audit(db, [{ tenantId, action: "tenant.updated", targetId: tenantId, detail }]);
  }
  return selectTenant(db);
}

/**
 * One step of the deletion of the tenant with everything that it has; null: there is more. Members and keys go last, so that whoever
 * began can go on. Rejects with `InvalidBody` for another name than the tenant's.
 */
export async function deleteTenantStep(db: TenantDatabase, name: string): Promise<"deleted" | null> {
  const { rows } = await db.execute<{ outcome: string | null }>(
    sql`select scanstream.delete_tenant(${name}, ${maxDeletedRows}::integer) as outcome`,
  );
  const outcome = rows[0]?.outcome ?? null;
  if (outcome === null) throw invalidField("/name", "is not the tenant's name, which confirms its deletion");
  return outcome === "deleted" ? "deleted" : null;
}
