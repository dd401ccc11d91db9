import { pause } from "../../shared/abortable.ts";
import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { adminContext, handleAdminRequests } from "../operator/call_admin.ts";
import type { LocalState } from "../operator/local_state.ts";
import type { AdminContext } from "../operator/operations.ts";
import { requireMigrated } from "../operator/require_migrated.ts";
import type { StreamOperator } from "../operator/stream_operations.ts";
import {
  requestStateHolder,
  lockStateDirectory,
  type RequestHandler,
  type StateLock,
} from "../../command_line/state_lock.ts";
import { type GatewayConfig, settingsError } from "../config.ts";
import type { Cleanup } from "./cleanup.ts";

/** A database that starts next to the gateway may take this long. */
const databaseTimeoutMs = 10_000;

export interface DatabaseHolder {
  readonly state: LocalState;
  /** Releases the lock of an embedded database. */
  readonly owned: Cleanup;
  /** For the requests that come to the holder of an embedded database. */
  readonly operator: Promise<StreamOperator>;
  /** Stops waiting for a database that is unavailable. */
  readonly signal: AbortSignal | undefined;
}

/** The database that is configured, migrated. Rejects with `UsageError` when it is not there. */
export async function openDatabase(config: GatewayConfig, holder: DatabaseHolder): Promise<Database> {
  const { signal } = holder;
  if (config.databaseUrl === null) return openEmbedded(config, holder);
  const database = createPgDatabase(config.databaseUrl);
  try {
    await requireMigrated(database, { timeoutMs: databaseTimeoutMs, ...(signal === undefined ? {} : { signal }) });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** While it is open, the administrative commands of other processes come to us. */
async function openEmbedded(config: GatewayConfig, { state, owned, operator }: DatabaseHolder): Promise<Database> {
  const opened = Promise.withResolvers<AdminContext>();
  // A failure rejects the requests that wait for it; there may be none.
  opened.promise.catch(() => {});
  const lock = await lockEmbedded(state, handleAdminRequests(opened.promise, operator));
  owned.defer(() => lock.release());
  try {
    const database = await openPgliteDatabase({ directory: state.databaseDirectory });
    opened.resolve(toAdminContext(config, state, database));
    return database;
  } catch (cause) {
    opened.reject(cause);
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

async function lockEmbedded(state: LocalState, handler: RequestHandler): Promise<StateLock> {
  await state.makeDirectory();
  const deadlineMs = Date.now() + databaseTimeoutMs;
  for (;;) {
    const lock = await lockStateDirectory(state.directory, handler);
    if (lock !== null) return lock;
    const holder = await requestStateHolder(state.directory, {}, databaseTimeoutMs);
    // A command will finish soon; another gateway will not.
    if (isGateway(holder) || Date.now() > deadlineMs) {
      throw settingsError([
        `DATABASE_URL: unset, and the embedded database in ${state.directory} is open in another gateway: ` +
          "stop that one, start in another folder, or name a Postgres database",
      ]);
    }
    await pause(100, []);
  }
}

function isGateway(holder: unknown): boolean {
  return typeof holder === "object" && holder !== null && "holder" in holder && holder.holder === "gateway";
}

export function toAdminContext({ auth }: GatewayConfig, state: LocalState, database: Database): AdminContext {
  return adminContext(
    { hasIssuer: auth.kind !== "local" && auth.acceptsDevelopmentKey !== true, tenantClaim: auth.tenantClaim },
    state,
    database,
  );
}
