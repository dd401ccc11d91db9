import { pause } from "../../shared/abortable.ts";
import { parseAdminConfig } from "../config.ts";
import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import type { FeatureTables } from "../../drizzle/feature_tables.ts";
import { migrate } from "../../drizzle/migrate.ts";
import { requireFeatureTables } from "../../drizzle/migrate_features.ts";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { DatabaseError } from "../../drizzle/database_error.ts";
import { isMigrated } from "../../drizzle/transactions.ts";
import { AppError } from "../../shared/app_error.ts";
import { errorCode, networkProblem } from "../../shared/error_code.ts";
import { settingsError, type UsageError } from "../../shared/usage_error.ts";

/** `scanstream migrate`: applies the migrations to `DATABASE_URL`, and returns the exit code. */
export async function migrateCommand({ env, terminal }: Pick<GatewayIo, "env" | "terminal">): Promise<number> {
  const { databaseUrl } = parseAdminConfig(env);
  if (databaseUrl === null) {
    throw settingsError(
      "DATABASE_URL: required: expected postgres://user:password@host/database (the embedded database migrates itself)",
    );
  }
  await migrateDatabase(databaseUrl);
  terminal.write("The database is up to date.\n");
  return 0;
}

/** Applies the migrations of the gateway and of the features. A failure says what to correct. */
export async function migrateDatabase(url: string, features: readonly FeatureTables[] = []): Promise<void> {
  try {
    await migrate(url, features);
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  if (error instanceof AppError && errorCode(error.cause) === "55P03") {
    return new AppError(
      "conflict",
      "Cannot migrate: another migration, or a transaction such as that of pg_dump, holds a lock: migrate again when it has ended",
    );
  }
  if (error instanceof AppError) return unreachable(error);
  if (error instanceof DatabaseError) {
    const asWhom = error.sqlState === "42501" ? " as the role of DATABASE_URL, which should own the database" : "";
    return new AppError(
      "permission_denied",
      `Cannot migrate${asWhom}: the database refused a step, and nothing was changed: ${error.message}`,
    );
  }
  return error;
}

interface OpenOptions {
  /** How long to retry while the database is unavailable: it may be starting too. Default 0. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly maxConnections: number;
  readonly features?: readonly FeatureTables[];
}

/** Opens a database with our tables and those of the features. Rejects as `requireMigrated` does, and for a feature's table. */
export async function openMigrated(url: string, { maxConnections, features = [], ...waiting }: OpenOptions) {
  const database = createPgDatabase(url, { maxConnections });
  try {
    await requireMigrated(database, waiting);
    await requireFeatureTables(database, features);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

const retryMs = 500;

/** Rejects with `UsageError` when the database is unavailable, lacks our tables, or its role may not use them. */
export async function requireMigrated(
  database: Database,
  options: Pick<OpenOptions, "timeoutMs" | "signal"> = {},
): Promise<void> {
  const deadlineMs = Date.now() + (options.timeoutMs ?? 0);
  for (;;) {
    try {
      if (await isMigrated(database)) return;
      throw settingsError(
        "DATABASE_URL: expected a database with the tables of this version: run `scanstream migrate`, " +
          "or migrate({ database, features }) for a gateway of your own",
      );
    } catch (error) {
      if (error instanceof DatabaseError) {
        const refused = `the database refuses it (SQLSTATE ${error.sqlState})`;
        throw settingsError(`DATABASE_URL: expected a role that can switch to scanstream_app: ${refused}`);
      }
      if (!(error instanceof AppError)) throw error;
      options.signal?.throwIfAborted();
      if (Date.now() + retryMs > deadlineMs) throw unreachable(error);
      await pause(retryMs, []);
    }
  }
}

/** Returns why the database does not serve. A server says in its own words that it is full, read-only or starting. */
export function unreachable({ cause }: AppError): UsageError {
  const code = errorCode(cause) ?? "";
  const why = networkProblem(cause) ?? "no answer";
  if (code.startsWith("28")) return settingsError("DATABASE_URL: the server refuses this user or password");
  if (code === "3D000") return settingsError("DATABASE_URL: the server has no database of this name");
  const isSqlState = /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
  if (isSqlState && cause instanceof Error) {
    return settingsError(`DATABASE_URL: the database does not serve: ${cause.message} (SQLSTATE ${code})`);
  }
  return settingsError(`DATABASE_URL: the database cannot be reached: check its host, port and network (${why})`);
}
