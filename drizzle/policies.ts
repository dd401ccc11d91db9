import { type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, type PgPolicy, pgPolicy, pgRole } from "drizzle-orm/pg-core";

/**
 * The two roles a transaction takes on, after it began as the role of `DATABASE_URL`. Neither can log in, neither
 * owns a table, neither bypasses row-level security. The first migration creates them; roles belong to the whole cluster.
 */

/** Bound to the one tenant that `app.tenant_id` names; sees nothing while that is unset. */
const appRole = pgRole("scanstream_app").existing();

/** Sees every tenant: for the admin commands, and owner of the few functions that look across tenants. */
const adminRole = pgRole("scanstream_admin").existing();

/**
 * The tenant of the running transaction; null (which no row equals) when none is set. After a transaction that set it,
 * the setting reads as '' and not as unset, hence `nullif`. The sub-select makes Postgres evaluate it once a statement.
 */
export const currentTenantId: SQL = sql`(select nullif(current_setting('app.tenant_id', true), '')::uuid)`;

/** Rows of the transaction's own tenant, for reading and for writing. */
export function tenantPolicies(table: string, tenantId: AnyPgColumn): PgPolicy[] {
  const isOwn = sql`${tenantId} = ${currentTenantId}`;
  return [
    pgPolicy(`${table}_of_tenant`, { as: "permissive", for: "all", to: appRole, using: isOwn, withCheck: isOwn }),
    // A policy also counts for members of its role, which the owner is; only who took the role on passes.
    pgPolicy(`${table}_of_admin`, { as: "permissive", for: "all", to: adminRole, using: isAdmin, withCheck: isAdmin }),
  ];
}

const isAdmin = sql`current_user = 'scanstream_admin'`;
