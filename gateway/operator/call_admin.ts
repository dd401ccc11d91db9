import type { Database } from "../../drizzle/database.ts";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { read } from "../../drizzle/transactions.ts";
import type { Access } from "../auth/membership.ts";
import { exportTenant } from "../features/tenant/export_tenant.ts";
import {
  executeAdmin,
  parseArgument,
  requireTenant,
  type AdminArguments,
  type AdminContext,
  type AdminOperation,
} from "./operations.ts";
import { parseAdminConfig } from "../config.ts";
import { isUnavailable } from "../../shared/app_error.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createLocalState, stateDirectory, type LocalState } from "./local_state.ts";
import { pglite } from "../library/pglite.ts";
import { openMigrated, unreachable } from "./migrate.ts";

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
    const caller = { tenantId: parseArgument(args, "tenant") };
    const inTenant: Access["read"] = (work) => read(database, caller, work);
    const tenant = await inTenant((db) => requireTenant(db, caller.tenantId));
    for await (const text of exportTenant(inTenant, tenant)) stdout(text);
    return 0;
  });
}

async function withAdmin<Result>(
  environment: Environment,
  work: (context: AdminContext) => Promise<Result>,
  { directory = stateDirectory }: { readonly directory?: string } = {},
): Promise<Result> {
  const config = parseAdminConfig(environment);
  const database = await (config.databaseUrl === null
    ? pglite({ directory }).open({ features: [] })
    : openMigrated(config.databaseUrl, { maxConnections: 1 }));
  try {
    return await work(adminContext(config, createLocalState(directory), database));
  } catch (error) {
    throw config.databaseUrl !== null && isUnavailable(error) ? unreachable(error) : error;
  } finally {
    await database.close();
  }
}

export function adminContext(
  { hasIssuer, tenantClaim }: Pick<ReturnType<typeof parseAdminConfig>, "hasIssuer" | "tenantClaim">,
  state: LocalState,
  database: Database,
): AdminContext {
  return { database, tenantClaim, ...(!hasIssuer && { developmentKey: () => state.developmentKey() }) };
}
