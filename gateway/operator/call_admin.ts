import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { read } from "../../drizzle/transactions.ts";
import type { Access } from "../auth/membership.ts";
import { exportTenant } from "../features/tenant/export_tenant.ts";
import { parseTenantId, type AdminArguments } from "./arguments.ts";
import { executeAdmin, requireTenant, type AdminContext, type AdminOperation } from "./operations.ts";
import { parseAdminConfig } from "../config.ts";
import { AppError } from "../../shared/app_error.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createLocalState, stateDirectory, type LocalState } from "./local_state.ts";
import { embeddedDatabase } from "./embedded_database.ts";
import { requireMigrated, unreachable } from "./migrate.ts";

/**
 * Runs one administrative operation on the database that the environment names, and returns its result as JSON. Embedded
 * Postgres may be open in one process only: not while a gateway runs.
 *
 * Rejects with `UsageError`, or with `AppError`: `invalid`, `not_found`, `conflict`, `permission_denied`, `unavailable`.
 */
export async function runAdmin(
  environment: Environment,
  operation: AdminOperation,
  args: AdminArguments,
  options: { readonly directory?: string } = {},
): Promise<unknown> {
  return withAdmin(environment, (context) => executeAdmin(context, operation, args), options);
}

/** Writes the lines of `admin tenant export`. */
export async function exportTenantCommand(
  args: AdminArguments,
  { env, stdout }: Pick<GatewayIo, "env" | "stdout">,
): Promise<number> {
  return withAdmin(env, async ({ database }) => {
    const caller = { tenantId: parseTenantId(args) };
    const inTenant: Access["read"] = (work) => read(database, caller, work);
    const tenant = await inTenant((db) => requireTenant(db, args));
    for await (const text of exportTenant(inTenant, tenant, Date.now())) stdout(text);
    return 0;
  });
}

async function withAdmin<Result>(
  environment: Environment,
  work: (context: AdminContext) => Promise<Result>,
  options: { readonly directory?: string } = {},
): Promise<Result> {
  const config = parseAdminConfig(environment);
  const state = createLocalState(options.directory ?? stateDirectory);
  const database = await openDatabase(config.databaseUrl, state);
  try {
    return await work(adminContext(config, state, database));
  } catch (error) {
    throw config.databaseUrl !== null && error instanceof AppError && error.code === "unavailable"
      ? unreachable(error)
      : error;
  } finally {
    await database.close();
  }
}

async function openDatabase(databaseUrl: string | null, state: LocalState): Promise<Database> {
  if (databaseUrl === null) return embeddedDatabase(state).open({ features: [], signal: undefined });
  const database = createPgDatabase(databaseUrl, { maxConnections: 1 });
  try {
    await requireMigrated(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

export function adminContext(
  { hasIssuer, tenantClaim }: Pick<ReturnType<typeof parseAdminConfig>, "hasIssuer" | "tenantClaim">,
  state: LocalState,
  database: Database,
): AdminContext {
  return { database, tenantClaim, ...(!hasIssuer && { developmentKey: () => state.developmentKey() }) };
}
