import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { adminContext } from "../operator/call_admin.ts";
import type { LocalState } from "../operator/local_state.ts";
import { lockEmbedded } from "../operator/lock_embedded.ts";
import type { AdminContext } from "../operator/operations.ts";
import { requireMigrated } from "../operator/require_migrated.ts";
import { type GatewayConfig, settingsError } from "../config.ts";
import type { Cleanup } from "./cleanup.ts";

/** A database that starts next to the gateway may take this long. */
const databaseTimeoutMs = 10_000;

export interface DatabaseHolder {
  readonly state: LocalState;
  /** Releases the lock of an embedded database. */
  readonly owned: Cleanup;
  /** Stops waiting for a database that is unavailable. */
  readonly signal: AbortSignal | undefined;
}

/** The database that is configured, migrated. Rejects with `UsageError` when it is not there. */
export async function openDatabase(config: GatewayConfig, holder: DatabaseHolder): Promise<Database> {
  const { signal } = holder;
  if (config.databaseUrl === null) return openEmbedded(holder);
  const database = createPgDatabase(config.databaseUrl);
  try {
    await requireMigrated(database, { timeoutMs: databaseTimeoutMs, ...(signal === undefined ? {} : { signal }) });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openEmbedded({ state, owned }: DatabaseHolder): Promise<Database> {
  const lock = await lockEmbedded(state);
  owned.defer(() => lock.release());
  try {
    return await openPgliteDatabase({ directory: state.databaseDirectory });
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw settingsError(
      [
        `DATABASE_URL: unset, and the embedded database in ${state.databaseDirectory} cannot be opened: ` +
          `move that folder away to start afresh (${reason})`,
      ],
      { cause },
    );
  }
}

export function toAdminContext({ auth }: GatewayConfig, state: LocalState, database: Database): AdminContext {
  return adminContext({ hasIssuer: auth.kind !== "local", tenantClaim: auth.tenantClaim }, state, database);
}
