import { DatabaseError } from "../../drizzle/database_error.ts";
import { migrate } from "../../drizzle/migrate.ts";
import { AppError } from "../../shared/app_error.ts";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { parseAdminConfig, settingsError } from "../config.ts";

/** `scanstream migrate`: applies the migrations to `DATABASE_URL`, and returns the exit code. */
export async function migrateCommand({ env, terminal }: Pick<GatewayIo, "env" | "terminal">): Promise<number> {
  const { databaseUrl } = parseAdminConfig(env);
  if (databaseUrl === null) {
    throw settingsError([
      "DATABASE_URL: required: expected postgres://user:password@host/database (the embedded database migrates itself)",
    ]);
  }
  try {
    await migrate(databaseUrl);
  } catch (error) {
    throw explain(error);
  }
  terminal.write("The database is up to date.\n");
  return 0;
}

function explain(error: unknown): unknown {
  if (error instanceof AppError) {
    return settingsError(["DATABASE_URL: the database cannot be reached: check its host, its port and the network"]);
  }
  if (error instanceof DatabaseError) {
    return new AppError(
      "permission_denied",
      `Cannot migrate: the database refused a step, and nothing was changed: ${error.message}`,
    );
  }
  return error;
}
