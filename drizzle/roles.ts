import { pgRole } from "drizzle-orm/pg-core";

/**
 * The two roles a transaction takes on, after it began as the role of `DATABASE_URL`. Neither can log in, neither
 * owns a table, neither bypasses row-level security. The first migration creates them; roles belong to the whole cluster.
 */

/** Bound to the one tenant that `app.tenant_id` names; sees nothing while that is unset. */
export const appRole = pgRole("scanstream_app").existing();

/** Sees every tenant: for the admin commands, and owner of the few functions that look across tenants. */
export const adminRole = pgRole("scanstream_admin").existing();
