import { eq } from "drizzle-orm";
import type { Database } from "../../drizzle/database.ts";
import { constraintViolation } from "../../drizzle/database_error.ts";
import { tenants } from "../../drizzle/schema.ts";
import { everyTenant, write } from "../../drizzle/transactions.ts";
import { NotFound } from "../../shared/app_error.ts";
import { parseTenantId, type AdminArguments } from "./arguments.ts";

/** Throws `NotFound`. */
export async function requireTenant(database: Database, tenantId: string): Promise<void> {
  const rows = await write(database, everyTenant, (db) =>
    db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId)),
  );
  if (rows.length === 0) throw noTenant(tenantId);
}

/** Work that stores rows of the tenant. */
export async function mapForeignKeyToNotFound<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (constraintViolation(error)?.kind === "foreign_key") throw noTenant(tenantId);
    throw error;
  }
}

/** Work that reads the tenant itself. */
export async function withKnownTenant(
  args: AdminArguments,
  work: (tenantId: string) => Promise<unknown>,
): Promise<unknown> {
  const tenantId = parseTenantId(args);
  try {
    return await work(tenantId);
  } catch (error) {
    if (error instanceof NotFound) throw noTenant(tenantId);
    throw error;
  }
}

function noTenant(tenantId: string): NotFound {
  return new NotFound(`Cannot find the tenant: no tenant has the id ${tenantId}. Run \`scanstream admin tenant list\``);
}
